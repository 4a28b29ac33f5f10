/**
 * The first batch on Temporal: on a server that runs, and on one that a run starts for itself. The reports are those of
 * the embedded engine, and so are the leftovers: none.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { describeWith } from '../helpers/requires.ts';
import { requireTemporalCli, startServerForTests } from '../helpers/temporal-tools.ts';
import { normalizedReport, type NormalizedReport } from './normalized-report.ts';
import { KEYS, Results, type Key } from './results.ts';
import type { ProgramEnd } from './running-program.ts';
import { openTemporalBatch, type Leftovers } from './temporal-batch.ts';

const RUN_ID = 'first-batch-engine';
const ALL_MS_MAX = 600_000;

interface EngineRun {
  readonly end: ProgramEnd;
  readonly report: NormalizedReport;
  readonly patches: readonly string[];
  readonly left: Leftovers;
  readonly files: { readonly note: boolean; readonly database: boolean };
}

async function runOn(engine: readonly string[], env: Readonly<Record<string, string>>): Promise<EngineRun> {
  const batch = await openTemporalBatch(env);
  try {
    const { copy } = batch;
    const end = await batch.start(['run', 'job.yaml', '--json', '--run-id', RUN_ID, ...engine]).ended;
    if (end.code !== 0) throw new Error(`the run ended with ${end.code}: ${end.stderr}`);
    expect(triedAgain(end.stdout)).toEqual([]);
    const results = new Results(copy, RUN_ID);
    const has = (file: string): boolean => existsSync(path.join(copy.dataDir, file));
    return {
      end,
      report: normalizedReport(results),
      patches: KEYS.map((key: Key) => results.patch(key)),
      left: await batch.left(),
      files: { note: has('engine.json'), database: has('temporal.db') },
    };
  } finally {
    await batch.close();
  }
}

/** Records of what waits for another attempt; they say why the one before failed, which a report no longer does. */
const triedAgain = (stdout: string): readonly string[] =>
  stdout.split('\n').filter((line) => /"phase":"waiting","attempt":[1-9]/.test(line));

describeWith('temporal', 'the first batch on Temporal', () => {
  let server: DevServer;
  let embedded: EngineRun;
  let named: EngineRun;
  let alone: EngineRun;
  beforeAll(async () => {
    server = await startServerForTests();
    const { address } = server;
    const cli = { PARLEY_TEMPORAL_CLI: requireTemporalCli() };
    [embedded, named, alone] = await Promise.all([
      runOn([], {}),
      runOn([], { PARLEY_ENGINE: 'temporal', TEMPORAL_ADDRESS: address }),
      runOn(['--engine', 'temporal'], cli),
    ]);
  }, ALL_MS_MAX);
  afterAll(() => server.stop());

  it('has the report of the embedded engine on a server that runs', () => {
    expect(named.report).toEqual(embedded.report);
    expect(named.patches).toEqual(embedded.patches);
    expect(embedded.report.records).toHaveLength(KEYS.length);
    expect(embedded.report.sandboxes).toBe(2);
  });

  it('has it on a server that the run starts, and says where that one is', () => {
    expect(alone.report).toEqual(embedded.report);
    expect(alone.patches).toEqual(embedded.patches);
    expect(alone.end.stderr).toMatch(
      /no Temporal server is named, so one was started .* at 127\.0\.0\.1:\d+/,
    );
    expect(alone.files).toEqual({ note: false, database: true });
    expect(named.end.stderr).not.toMatch(/one was started/);
    expect(named.files).toEqual({ note: false, database: false });
  });

  it('prints records alone on standard output, and no word of the packages', () => {
    for (const { end } of [embedded, named, alone]) {
      const lines = end.stdout.split('\n').filter((line) => line !== '');
      const types = lines.map((line) => (JSON.parse(line) as { readonly type: string }).type);
      expect(types.slice(0, 1)).toEqual(['hello']);
      expect(types.at(-1)).toBe('done');
      expect(end.stderr).not.toMatch(/WARN|ERROR|Temporal: |look/);
    }
  });

  it('leaves nothing: no server, no sandbox, no process', () => {
    for (const { left } of [embedded, named, alone]) expect(left).toEqual({ processes: [], folders: [] });
  });
});
