/**
 * One life under the 12-hour policy, on a server that skips time and in the simulator: how long each takes.
 * Owns the life and the check that both play it: work to the cap, a message, an interruption, an idle pause, deletion.
 */
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import { World } from '../../simulator/models/world.ts';
import { RandomStream } from '../../simulator/random.ts';
import { CONVERSATION_REQUESTS, message } from '../../simulator/requests.ts';
import { act, START_AT, type Script, type Stage } from '../../simulator/script.ts';
import { Simulation } from '../../simulator/simulation.ts';
import type { World as ActivityWorld } from '../../activities/world.ts';
import { DELETION_TIME_DEFAULT_MS, IDLE_TIME_DEFAULT_MS } from '../../core/limits.ts';
import type { ProjectionRow } from '../../core/machine/projection.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import { specOf, started } from './conversations.ts';
import { deploy } from './deployment.ts';
import { median } from '../all/means.ts';
import { paced } from './bench-world.ts';
import { onSkippingServer, type SkippingGround } from './skipping-ground.ts';

/** After the cap of the first session: a message of the user resumes the sandbox. */
const MESSAGE_AT_MS = 14 * HOUR_MS;
const INTERRUPT_AT_MS = MESSAGE_AT_MS + 18 * MINUTE_MS;
const OVER_AT_MS = 12 * DAY_MS;
/** Runtime and agent are polled as seldom as the idle rule allows: polls are the main cost of skipping time. */
const POLL_MS = IDLE_TIME_DEFAULT_MS;
const PLAYS = 20;

/** Every status of the sandbox, in order, with the reason of each pause. */
const LIFE = ['STARTING', 'RUNNING', 'PAUSED session_limit', 'RUNNING', 'PAUSED idle', 'MISSING'];

export interface PolicyScenario {
  readonly virtualDays: number;
  /** Of one play after a server is up. */
  readonly temporalSeconds: number;
  /** Median of as many plays as in `plays`, the first left out. */
  readonly simulatorSeconds: number;
  readonly plays: number;
}

export async function measurePolicyScenario(): Promise<PolicyScenario> {
  const plays = Array.from({ length: PLAYS + 1 }, playSimulated).slice(1);
  const temporalSeconds = await onSkippingServer(playOnServer);
  return {
    virtualDays: OVER_AT_MS / DAY_MS,
    temporalSeconds,
    simulatorSeconds: median(plays),
    plays: PLAYS,
  };
}

const SCRIPT: Script = {
  name: 'the cap, a message, an interruption, an idle pause, the deletion',
  seed: 7,
  models: {
    ...MODELS_STEADY,
    pollMs: POLL_MS,
    agent: { ...MODELS_STEADY.agent, work: fixed(30 * HOUR_MS) },
  },
  policy: {
    limits: { idleTimeMs: IDLE_TIME_DEFAULT_MS, deletionTimeMs: DELETION_TIME_DEFAULT_MS },
    capacity: { installationMax: 100, userMax: 100, conversationsPerSandboxMax: 20 },
    onFull: 'refuse',
    grouping: 'NO_GROUPING',
  },
  steps: [
    { atMs: 0, action: { do: 'start', name: 'a' } },
    { atMs: MESSAGE_AT_MS, action: { do: 'message', name: 'a' } },
    { atMs: INTERRUPT_AT_MS, action: { do: 'interrupt', name: 'a' } },
  ],
  untilMs: OVER_AT_MS,
};

/** Seconds of one play. */
function playSimulated(): number {
  const from = performance.now();
  const life: string[] = [];
  const { models, policy, seed } = SCRIPT;
  let world: World | null = null;
  const simulation = new Simulation({
    startAt: START_AT,
    world: (port) => (world = new World(port, { models, policy, random: new RandomStream(seed) })),
    onStep: ({ commands }) => {
      for (const command of commands) if (command.type === 'project') note(life, command.rows);
    },
  });
  if (world === null) throw new Error('Cannot play: there is no world');
  const stage: Stage = { world, deliver: simulation.deliver.bind(simulation) };
  for (const [number, { atMs, action }] of SCRIPT.steps.entries())
    simulation.script(START_AT + atMs, () => act(stage, action, number));
  simulation.runUntil(START_AT + SCRIPT.untilMs);
  const seconds = (performance.now() - from) / 1_000;
  expectLife(life);
  return seconds;
}

/** Seconds from the start request to the end of the sandbox. */
async function playOnServer(ground: SkippingGround): Promise<number> {
  await ground.readClock();
  const life: string[] = [];
  const { requests, stop } = await deploy(ground, {
    activityMs: 0,
    clock: ground.clock,
    pollMs: POLL_MS,
    world: (world) => busyUntilInterrupted(world),
    activities: (activities) => paced(activities, () => ground.readClock()),
    onRows: (rows) => note(life, rows),
  });
  try {
    const from = performance.now();
    const spec = specOf('a');
    const to = { machine: 'conversation', id: spec.conversationId } as const;
    await requests.deliver(started(spec));
    await ground.skip(MESSAGE_AT_MS);
    await requests.deliver({ to, event: message('second', 'more') });
    await ground.skip(INTERRUPT_AT_MS - MESSAGE_AT_MS);
    await requests.deliver({ to, event: CONVERSATION_REQUESTS.interrupt('stop') });
    await ground.skip(OVER_AT_MS - INTERRUPT_AT_MS);
    expectLife(life);
    return (performance.now() - from) / 1_000;
  } finally {
    await stop();
  }
}

/** The agent works until it is stopped. */
function busyUntilInterrupted(world: ActivityWorld): ActivityWorld {
  const { clock } = world;
  let stoppedAt = Number.POSITIVE_INFINITY;
  const agent: ActivityWorld['agent'] = {
    ...world.agent,
    idleSeconds: () => Promise.resolve(Math.max(0, clock.now() - stoppedAt) / 1_000),
    async conversation(target, id) {
      const view = await world.agent.conversation(target, id);
      if (view === null) return null;
      return { ...view, executionStatus: clock.now() < stoppedAt ? 'RUNNING' : 'PAUSED' };
    },
    interrupt() {
      stoppedAt = Math.min(stoppedAt, clock.now());
      return Promise.resolve();
    },
  };
  return { ...world, agent };
}

function note(life: string[], rows: readonly ProjectionRow[]): void {
  for (const row of rows) {
    if (row.table !== 'sandbox') continue;
    const status = row.status === 'PAUSED' ? `PAUSED ${row.pauseReason}` : row.status;
    if (life.at(-1) !== status) life.push(status);
  }
}

function expectLife(life: readonly string[]): void {
  if (life.join() !== LIFE.join()) throw new Error(`Cannot compare: the sandbox was ${life.join(', ')}`);
}
