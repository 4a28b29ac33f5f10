/**
 * The batch on a server that the run starts for itself, killed together with it: `resume` goes on from the database in
 * the data directory, with the keys that sealed the payloads, and with no others.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { requireTemporalCli } from '../helpers/temporal-tools.ts';
import { ledgerRows, sumOf } from './ledger.ts';
import { KEYS, Results } from './results.ts';
import { runStatus, type RunStatus } from './run-status.ts';
import { startProgram, type ProgramEnd, type RunningProgram } from './running-program.ts';
import { openTemporalBatch, type TemporalBatch } from './temporal-batch.ts';

const RUN_ID = 'first-batch-resumed';
const ALL_MS_MAX = 600_000;
const newKey = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;

describeWith('temporal', 'a batch whose server is killed with it', () => {
  const [k1, k2] = [newKey('k1'), newKey('k2')];
  let batch: TemporalBatch;
  let otherEngine: ProgramEnd;
  let withoutKey: ProgramEnd;
  let end: ProgramEnd;
  let status: RunStatus | null;

  const parley = (args: readonly string[], keys: string): RunningProgram =>
    startProgram(batch.copy, 'bin/parley.js', args, {
      ...batch.gateway.env,
      PARLEY_TEMPORAL_CLI: requireTemporalCli(),
      PARLEY_TEMPORAL_CODEC_KEYS: keys,
    });
  const killedOnce = async (program: RunningProgram, after: RegExp): Promise<void> => {
    if (!(await program.says(after))) throw new Error(`it ended early: ${(await program.ended).stderr}`);
    await pause(300);
    program.kill();
    await program.ended;
  };

  beforeAll(async () => {
    batch = await openTemporalBatch({});
    const run = ['run', 'job.yaml', '--run-id', RUN_ID, '--engine', 'temporal'];
    const resume = ['resume', RUN_ID, '--engine', 'temporal'];
    await killedOnce(parley(run, k1), /: working/);
    otherEngine = await parley(['resume', RUN_ID], k1).ended;
    withoutKey = await parley(resume, '').ended;
    await killedOnce(parley(resume, k1), /: (verifying|collecting|succeeded)/);
    // A new key seals from now on, and the old one still opens.
    end = await parley(resume, `${k2},${k1}`).ended;
    status = await runStatus(batch.copy, RUN_ID);
  }, ALL_MS_MAX);
  afterAll(() => batch.close());

  it('is refused by the other engine, with the flag that helps', () => {
    expect(otherEngine.code).toBe(2);
    // Its sandboxes are seen before the run is looked for: nothing of the other engine is opened at all.
    expect(otherEngine.stderr).toMatch(
      /^parley: Cannot use the sandbox "[0-9a-f]{32}" on the engine "embedded": it was begun on "temporal"$/m,
    );
    expect(otherEngine.stderr).toContain('  = add --engine temporal, or set engine.kind to it');
  });

  it('is refused without the key, in a sentence', () => {
    expect(withoutKey.code).toBe(2);
    expect(withoutKey.stderr).toMatch(
      /^parley: Cannot decrypt a payload: the key "k1" is not configured; add it under that id to PARLEY_TEMPORAL_CODEC_KEYS$/m,
    );
    expect(withoutKey.stderr).not.toMatch(/^\s+at /m);
  });

  it('is finished in the end, with every conversation succeeded and the bill exact', () => {
    expect(end.code, end.stderr).toBe(0);
    expect(status?.items.map(({ key, outcome }) => [key, outcome])).toEqual(
      KEYS.map((key) => [key, 'succeeded']),
    );
    const { total, assigned, ambiguous, unassigned } = new Results(batch.copy, RUN_ID).sums();
    expect(total).toBe(sumOf(ledgerRows(batch.copy)));
    expect(assigned + ambiguous + unassigned).toBe(total);
  });

  it('leaves no server and no sandbox', async () => {
    expect(await batch.left()).toEqual({ processes: [], folders: [] });
  });
});
