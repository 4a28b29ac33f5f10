/**
 * Recorded histories against today's bundle: a developer who changes what the driver decides has to know it.
 * `UPDATE_GOLDEN=1` records them anew on a dev server; a released core version's folder is never recorded again.
 */
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  historyToText,
  type History,
  recordedHistories,
  replay,
  type RecordedHistory,
  type Replayed,
} from '../../temporal/replay.ts';
import { patched, sourceOf } from '../../scripts/mutants.js';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { BUNDLE } from './support/deployment.ts';
import { runsOf } from './support/histories.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';
import { withTasksJoined, withTasksSplit, withoutBases } from './support/recut.ts';
import { scrubbed } from './support/scrub.ts';
import { playLives } from './support/record-lives.ts';

installQuietRuntime();

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Version of the states in core/: one folder of histories for each. */
const CORE_VERSION = 1;
const HISTORIES = path.join(ROOT, 'test/golden/histories');
const CURRENT = path.join(HISTORIES, `${CORE_VERSION}`);
/** Never recorded again: what older builds left open, and what came about by a chance that no scene has. */
const KEPT = path.join(HISTORIES, 'kept');
const SLOW_MS = 600_000;

async function resultsOf(
  bundle: { readonly code: string } | { readonly codePath: string },
): Promise<readonly Replayed[]> {
  const results: Replayed[] = [];
  for await (const result of replay({ workflowBundle: bundle }, recordedHistories(HISTORIES)))
    results.push(result);
  return results;
}

function recutHistories(recut: (history: History) => readonly History[]): readonly RecordedHistory[] {
  return recordedHistories(HISTORIES).flatMap(({ name, workflowId, history }) =>
    recut(history).map((other, index) => ({ name: `${name} ${index}`, workflowId, history: other })),
  );
}

async function problemsOf(histories: readonly RecordedHistory[]): Promise<readonly Replayed[]> {
  const results: Replayed[] = [];
  for await (const result of replay({ workflowBundle: { codePath: BUNDLE } }, histories))
    if (result.problem !== null) results.push(result);
  return results;
}

/** The bundle of a copy of the sources with one text of the driver replaced; the tree is left alone. */
async function bundleWith(file: string, find: string, replace: string): Promise<{ readonly code: string }> {
  const folder = tempDir();
  for (const name of ['core', 'workflows'])
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const mutant = { name: 'another driver', file, find, replace };
  writeFileSync(path.join(folder, file), patched(mutant, sourceOf(mutant)));
  const { code } = await bundleWorkflowCode({
    workflowsPath: path.join(folder, 'workflows/index.ts'),
    logger: new DefaultLogger('ERROR'),
  });
  return { code };
}

if (process.env['UPDATE_GOLDEN'] === '1') {
  describeWith('temporal', 'histories', () => {
    it(
      'are recorded',
      async () => {
        const server = await startServerForTests();
        try {
          const { deployment, workflows } = await playLives({ address: server.address });
          rmSync(CURRENT, { recursive: true, force: true });
          mkdirSync(CURRENT, { recursive: true });
          for (const [name, workflowId] of Object.entries(workflows)) {
            const runs = await runsOf(deployment.client, workflowId);
            for (const [index, { history }] of runs.entries())
              writeFileSync(
                path.join(CURRENT, `${name}-${index + 1}.json`),
                `${scrubbed(historyToText(history), ROOT)}\n`,
              );
          }
          await deployment.stop();
        } finally {
          await server.stop();
        }
      },
      SLOW_MS,
    );
  });
}

describe('recorded histories', () => {
  const results: Replayed[] = [];
  beforeAll(async () => void results.push(...(await resultsOf({ codePath: BUNDLE }))), SLOW_MS);

  it('replay against the bundle of today', () => {
    expect(results.filter(({ problem }) => problem !== null)).toEqual([]);
    expect(results.length).toBe(readdirSync(CURRENT).length + readdirSync(KEPT).length);
  });

  it('are of every workflow kind, with continued runs and ended ones', () => {
    const kinds = new Set(results.map(({ workflowId }) => workflowId.split('/')[0]));
    expect([...kinds].sort()).toEqual(['conversation', 'run', 'sandbox', 'scheduled', 'shard']);
    const last = recordedHistories(HISTORIES).map(({ history }) =>
      Object.keys(history.events?.at(-1) ?? {}).join(),
    );
    expect(last.some((keys) => keys.includes('workflowExecutionContinuedAsNew'))).toBe(true);
    expect(last.some((keys) => keys.includes('workflowExecutionCompleted'))).toBe(true);
  });

  it('hold nothing of the machine that recorded them', () => {
    for (const { name, history } of recordedHistories(HISTORIES)) {
      const text = JSON.stringify(history, (_key, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
      );
      expect(text.includes(ROOT), name).toBe(false);
      expect(/"identity":"(?!parley-test")/.exec(text)?.[0], name).toBeUndefined();
    }
  });

  it.each([
    ['joined', withTasksJoined],
    ['split', withTasksSplit],
  ])('replay when their tasks are %s, from what each batch says it rests on', async (_cut, recut) => {
    const others = recutHistories(recut);
    expect(others).not.toEqual([]);
    expect(await problemsOf(others)).toEqual([]);
  });

  it('do not replay when their tasks are joined and no batch says what it rests on', async () => {
    const [first] = recutHistories(withTasksJoined);
    if (first === undefined) throw new Error('no history has tasks that can be joined');
    const [found] = await problemsOf([{ ...first, history: withoutBases(first.history) }]);
    expect(found?.problem).toContain('Missing associated machine for LocalActivity');
  });

  it('replay as builds left them that did not say what a batch rests on', async () => {
    const recorded = recordedHistories(HISTORIES);
    const silent = recorded.map((one) => ({ ...one, history: withoutBases(one.history) }));
    expect(JSON.stringify(silent)).not.toEqual(JSON.stringify(recorded));
    expect(await problemsOf(silent)).toEqual([]);
  });

  it.each([
    ['writes no search attributes', 'workflows/drive.ts', 'visibility.show(said.orders.rows);', ''],
    ['arms no timer', 'workflows/drive.ts', 'timer.arm(entity.deadline);', ''],
    ['begins no watch', 'workflows/drive.ts', 'if (!wantsToLeave()) dispatcher.beginWatches();', ''],
    [
      'ends what rests, and was begun by a build that kept it open',
      'workflows/entity.ts',
      'return this.mayRest &&',
      'return true &&',
    ],
    [
      'leaves the run of a cancelled firing alone',
      'workflows/scheduled-run.ts',
      'await brief.cancelScheduledRun({ runId, requestId: `cancelled/${firing}` });',
      '',
    ],
  ])(
    'do not replay against a driver that %s',
    async (_mistake, file, find, replace) => {
      const wrong = await resultsOf(await bundleWith(file, find, replace));
      expect(wrong.filter(({ problem }) => problem !== null).length).toBeGreaterThan(0);
      expect(wrong.find(({ problem }) => problem !== null)?.problem).toMatch(/nondeterminism/i);
    },
    SLOW_MS,
  );
});
