/**
 * A batch that really ran, recorded from its store and played again: the simulator's answer is held against the run.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyBatch, TOKEN, type BatchCopy } from './batch-copy.ts';
import { runStatus, type RunStatus } from './run-status.ts';
import { startProgram, type ProgramEnd } from './running-program.ts';
import { formIn, secretForms } from './secret-forms.ts';

const RUN_MS_MAX = 600_000;
const RUN_ID = 'first-batch-recorded';
/** Between a step of the embedded engine and the next there is more than nothing; the model leaves that out. */
const OVERHEAD_MS_MAX = 10_000;

/** What this file asks of an item beyond its status. */
type ItemFigures = RunStatus['items'][number] & {
  readonly cost_nano_usd: number;
  readonly admitted_at: number;
  readonly ended_at: number;
};

interface Recorded {
  readonly conversations: readonly {
    readonly key: string;
    readonly workMs: number;
    readonly outcome: string;
  }[];
}

describe('a recorded batch', () => {
  let copy: BatchCopy;
  let items: readonly ItemFigures[];
  let recording: string;
  let replayed: ProgramEnd;
  beforeAll(async () => {
    copy = copyBatch('none');
    const parley = async (...args: readonly string[]): Promise<ProgramEnd> => {
      const end = await startProgram(copy, 'bin/parley.js', args).ended;
      if (end.code !== 0) throw new Error(end.stderr);
      return end;
    };
    const run = await startProgram(copy, 'examples/first-batch/main.js', ['--run-id', RUN_ID]).ended;
    const found = await runStatus(copy, RUN_ID);
    if (found === null) throw new Error(`there is no run: ${run.stderr}`);
    items = found.items as readonly ItemFigures[];
    const file = path.join(copy.root, 'recording.json');
    await parley('simulate', '--record', RUN_ID, '--out', file);
    recording = readFileSync(file, 'utf8');
    replayed = await parley('simulate', 'job.yaml', '--replay', file, '--json');
  }, RUN_MS_MAX);
  afterAll(() => copy.close());

  it('costs the same to the nano-dollar, and ends the same', () => {
    const records = replayed.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const simulated = records.filter(({ type }) => type === 'simulated');
    const seen = items.map((item) => [item.key, item.outcome, item.cost_nano_usd]);
    expect(seen).toHaveLength(3);
    expect(simulated.map((one) => [one['key'], one['outcome'], one['cost_nano_usd']])).toEqual(seen);
  });

  it('takes as long as the run took, but for what lies between the steps', () => {
    const whole = JSON.parse(replayed.stdout.trimEnd().split('\n').at(-1) ?? '') as { makespan_ms: number };
    const ends = items.map((item) => item.ended_at);
    const began = Math.min(...items.map((item) => item.admitted_at));
    const realMs = Math.max(...ends) - began;
    const { conversations } = JSON.parse(recording) as Recorded;
    expect(whole.makespan_ms).toBeGreaterThan(Math.max(...conversations.map(({ workMs }) => workMs)));
    expect(Math.abs(realMs - whole.makespan_ms)).toBeLessThan(OVERHEAD_MS_MAX);
  });

  it('holds no secret and no prompt', () => {
    expect(formIn(Buffer.from(recording), secretForms(TOKEN))).toBeNull();
    expect(recording).not.toMatch(/prompt|please|index\.mjs|gateway/i);
    const { conversations } = JSON.parse(recording) as Recorded;
    expect(conversations.map(({ outcome }) => outcome)).toEqual(['FINISHED', 'FINISHED', 'FINISHED']);
  });
});
