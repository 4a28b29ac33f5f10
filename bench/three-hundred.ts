/**
 * `npm run bench -- three-hundred [--engine embedded|temporal] [--case quiet|away|revoked|model|disk] [--limit N] [--json]`:
 * the example of three hundred as it is shipped, on defaults, undisturbed or with one failure in the middle.
 * Prints how many succeeded, the most sandboxes seen from outside, the makespan beside the bound of list scheduling and
 * beside its own simulation, how soon the trouble was reported, and whether the bill equals the account.
 * Exit code 1 when a conversation, a row or a sandbox is not as it must be; times do not count. docs/three-hundred.md.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Recording } from '../simulator/recording/recording.ts';
import { HARMS, DATA_MIB, type CaseName } from './three-hundred/cases.ts';
import { Follower } from './three-hundred/follower.ts';
import { Ground, type Ended, type ParleyRecord } from './three-hundred/ground.ts';

const RUN_ID = 'three-hundred-bench';
const SANDBOXES_MAX = 10;
/** The harm strikes when a third has ended. */
const STRIKE_SHARE = 1 / 3;
const SEEDS = 10;
/** Conversations of the example: a simulation of fewer would be of another job. */
const ALL = 300;
const RETRIED_MAX = 10;

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'embedded' },
    case: { type: 'string', default: 'quiet' },
    limit: { type: 'string', default: '300' },
    json: { type: 'boolean', default: false },
  },
});

interface Outcome {
  readonly engine: string;
  readonly case: string;
  readonly items: number;
  readonly succeeded: number;
  readonly attemptsMax: number;
  readonly sandboxesSeen: number;
  readonly makespanMs: number;
  readonly boundMs: number;
  readonly simulatedMs: readonly number[];
  /** From the harm to its first report; null without one. */
  readonly toldAfterMs: number | null;
  readonly told: string | null;
  /** How the first command ended, and after how many more it was done. */
  readonly exitCode: number | null;
  readonly resumes: number;
  readonly billedNanoUsd: string;
  readonly spentNanoUsd: string;
}

async function measure(): Promise<Outcome> {
  const engine = values.engine === 'temporal' ? 'temporal' : 'embedded';
  const name = values.case as CaseName;
  const harm = name === 'quiet' ? null : HARMS[name];
  const items = Number(values.limit);
  const ground = new Ground(engine, name === 'disk' ? DATA_MIB : null);
  try {
    await ground.startGateway();
    const sandboxes = ground.countSandboxes();
    const follower = new Follower();
    const run = ground.start(
      ['run', 'job.yaml', '--run-id', RUN_ID, '--limit', String(items)],
      follower.take,
    );
    let first: Ended | null = null;
    void run.ended.then((end) => (first = end)).then(() => follower.take({}));
    if (harm !== null) {
      await follower.until(() => first !== null || follower.ended.size >= items * STRIKE_SHARE);
      await harm.strike(ground);
      follower.struck(harm);
      await Promise.race([run.ended, new Promise((resolve) => setTimeout(resolve, harm.lastsMs).unref())]);
      await harm.undo(ground);
    }
    const end = await run.ended;
    let resumes = 0;
    for (let code = end.code; code !== 0 && resumes < 3; resumes += 1) {
      code = (await ground.start(['resume', RUN_ID], follower.take).ended).code;
    }
    const sandboxesSeen = sandboxes.stop();
    const rows = await ground.ask(['status', RUN_ID]);
    return await outcomeOf({ ground, rows, follower, sandboxesSeen, end, resumes, engine, name });
  } finally {
    await ground.close();
  }
}

interface Seen {
  readonly ground: Ground;
  readonly rows: readonly ParleyRecord[];
  readonly follower: Follower;
  readonly sandboxesSeen: number;
  readonly end: Ended;
  readonly resumes: number;
  readonly engine: string;
  readonly name: CaseName;
}

async function outcomeOf(seen: Seen): Promise<Outcome> {
  const { ground, rows, follower, sandboxesSeen, end, resumes, engine, name } = seen;
  const run = rows.find(({ type }) => type === 'run') ?? {};
  const items = rows.filter(({ type }) => type === 'item');
  for (const { key, outcome, detail } of items
    .filter((item) => item['outcome'] !== 'succeeded')
    .slice(0, 3)) {
    process.stderr.write(`${String(key)}: ${String(outcome)}: ${String(detail)}\n`);
  }
  for (const words of follower.retried.slice(0, RETRIED_MAX)) process.stderr.write(`tried again: ${words}\n`);
  const simulatedMs = name === 'quiet' && items.length === ALL ? await simulated(ground) : [];
  return {
    engine,
    case: name,
    items: items.length,
    succeeded: items.filter(({ outcome }) => outcome === 'succeeded').length,
    attemptsMax: Math.max(...items.map(({ attempt }) => Number(attempt))),
    sandboxesSeen,
    makespanMs: Number(run['ended_at']) - Number(run['created_at']),
    boundMs: await boundOf(ground),
    simulatedMs,
    toldAfterMs: follower.toldAfterMs,
    told: follower.told,
    exitCode: end.code,
    resumes,
    billedNanoUsd: String(ground.billed()),
    spentNanoUsd: String(run['spent_nano_usd']),
  };
}

/** What the boots, the work, the checks and the stops of the run take on ten sandboxes that never rest. */
async function boundOf(ground: Ground): Promise<number> {
  const file = path.join(ground.dir, 'recording.json');
  await ground.ask(['simulate', '--record', RUN_ID, '--out', file]);
  const { bootsMs, stopsMs, conversations } = JSON.parse(readFileSync(file, 'utf8')) as Recording;
  const after = conversations.map(({ workMs, afterMs }) => (workMs ?? 0) + (afterMs ?? 0));
  return [...bootsMs, ...stopsMs, ...after].reduce((sum, ms) => sum + ms, 0) / SANDBOXES_MAX;
}

/** Makespans of the recorded run, played again from several seeds. */
async function simulated(ground: Ground): Promise<readonly number[]> {
  const makespans: number[] = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const played = await ground.ask(['simulate', 'job.yaml', '--record', RUN_ID, '--seed', String(seed)]);
    makespans.push(Number(played.find(({ type }) => type === 'simulation')?.['makespan_ms']));
  }
  return makespans;
}

function linesOf(outcome: Outcome): readonly string[] {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const { makespanMs, boundMs, simulatedMs } = outcome;
  const share = (ms: number): string => `${((100 * ms) / makespanMs).toFixed(1)} %`;
  const near = simulatedMs.filter((ms) => Math.abs(ms / makespanMs - 1) <= 0.05).length;
  return [
    `${outcome.engine}, ${outcome.case}: ${outcome.succeeded} of ${outcome.items} succeeded, attempts at most ${outcome.attemptsMax}`,
    `sandboxes at once, seen from outside: ${outcome.sandboxesSeen} at most`,
    `makespan: ${seconds(makespanMs)}; list scheduling of the same conversations: ${seconds(boundMs)} (${share(boundMs)})`,
    ...(simulatedMs.length === 0
      ? []
      : [
          `simulated: ${simulatedMs.map(share).join(', ')} of it; ${near} of ${simulatedMs.length} seeds within 5 %`,
        ]),
    ...(outcome.toldAfterMs === null
      ? []
      : [`told after ${seconds(outcome.toldAfterMs)}: ${outcome.told ?? ''}`]),
    `exit ${outcome.exitCode}, resumed ${outcome.resumes} times`,
    `billed ${outcome.billedNanoUsd}, spent ${outcome.spentNanoUsd} nano-USD`,
  ];
}

const outcome = await measure();
process.stdout.write(values.json ? `${JSON.stringify(outcome)}\n` : `${linesOf(outcome).join('\n')}\n`);
const isWhole =
  outcome.succeeded === outcome.items &&
  outcome.items === Number(values.limit) &&
  outcome.sandboxesSeen <= SANDBOXES_MAX &&
  (outcome.case === 'quiet' || outcome.toldAfterMs !== null);
process.exitCode = isWhole ? 0 : 1;
