/**
 * When the process of a run is killed: stages of its life, and a seeded moment after each begins.
 * Owns the spread over the whole life; must not kill anything.
 */
import { RandomStream } from '../../simulator/random.ts';

export interface KillMoment {
  readonly stage: Stage | 'finished';
  /** What the process has said by then; null means from its start. */
  readonly after: RegExp | null;
  /** Milliseconds since. */
  readonly delayMs: number;
}

/** A stage has begun when its words, or those of a later one, are there. */
const STAGES = {
  /** Loading, opening the store, taking the job: often before the run is accepted. */
  opening: { after: null, delaysMs: [0, 700] },
  starting: { after: /: (starting|working|verifying|succeeded)/, delaysMs: [0, 500] },
  working: { after: /: (working|verifying|succeeded)/, delaysMs: [0, 1500] },
  verifying: { after: /: (verifying|collecting|succeeded)/, delaysMs: [0, 150] },
  collecting: { after: /replace-substr: (verifying|collecting|succeeded)/, delaysMs: [150, 500] },
  cleaning: { after: /run: (cleaning|settling|finished)/, delaysMs: [0, 150] },
  settling: { after: /run: (settling|finished)/, delaysMs: [0, 800] },
  /** The run settles for a second, and is reconciled and reported at its end. */
  reporting: { after: /run: (settling|finished)/, delaysMs: [820, 940] },
} as const;

export type Stage = keyof typeof STAGES;

/** Kills of one run, in the order of its life. Together they reach every stage. */
const RUNS: readonly (readonly Stage[])[] = [
  ['opening', 'starting', 'working', 'cleaning'],
  ['opening', 'working', 'verifying', 'settling'],
  ['starting', 'working', 'collecting', 'reporting'],
  ['starting', 'verifying', 'collecting', 'settling'],
  ['opening', 'working', 'cleaning', 'reporting'],
];

/** Four moments in each run, so many in all, twenty by default: five runs; the same for the same seed. */
export const KILLS = killsOf(process.env['PARLEY_CRASH_POINTS']);

function killsOf(asked: string | undefined): number {
  const points = Number(asked ?? '20');
  if (!Number.isInteger(points) || points < 1)
    throw new Error(`Cannot kill so often: PARLEY_CRASH_POINTS is "${asked ?? ''}"`);
  const each = RUNS[0]?.length ?? 1;
  return Math.ceil(points / each) * each;
}

/** The kinds of runs come round; every round has other moments. */
export function killPlan(seed: number): readonly (readonly KillMoment[])[] {
  const random = new RandomStream(seed);
  const count = KILLS / (RUNS[0]?.length ?? 1);
  const runs = Array.from({ length: count }, (_, at) => RUNS[at % RUNS.length] ?? []);
  return runs.map((stages) =>
    stages.map((stage): KillMoment => {
      const { after, delaysMs } = STAGES[stage];
      const [least, most] = delaysMs;
      return { stage, after, delayMs: Math.round(least + random.next() * (most - least)) };
    }),
  );
}
