/** Every fault of an agent by itself: it strikes once, does what its name says, and every invariant holds in the end. */
import { describe, expect, it } from 'vitest';
import { FAULT_NAMES, FAULTS, type FaultName } from '../../simulator/faults/catalogue.ts';
import { FaultyStage } from '../../simulator/faults/faulty-stage.ts';
import { NO_FAULTS } from '../../simulator/faults/injector.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import { act, START_AT } from '../../simulator/script.ts';
import { BUSY, D, H, M, POLICY, S, start } from '../conformance/script-parts.ts';
import { BOX, nth, play, TALK, timesOf, UNDISTURBED, type Case, type Played } from './faults-parts.ts';

interface Row extends Omit<Case, 'keys'> {
  readonly fault: FaultName;
  readonly where: string;
  readonly shows: (played: Played) => unknown;
  readonly is: unknown;
}

const DELIVER = nth('deliverItem');
const WATCH = nth('watchAgent');
const WORK = `${TALK}/a/initial`;
const WORK_MS = 18 * M;
/** Nothing keeps it from its work: delivered after 5.4 s, at rest 18 minutes later. */
const DELIVERED_MS = 5_400;
const RESTS_MS = DELIVERED_MS + WORK_MS;

const first = (played: Played, type: Parameters<typeof timesOf>[1]): number =>
  timesOf(played, type)[0] ?? NaN;
const last = (played: Played, type: Parameters<typeof timesOf>[1]): number =>
  timesOf(played, type).at(-1) ?? NaN;
const delivered = ({ stage }: Played): number | undefined => stage.world.delivered.get('a/initial');
const cost = ({ stage }: Played): number => stage.world.spentBy(TALK, stage.simulation.now());
/** What an event that changes nothing adds to the steps of a run that is otherwise the same. */
const silentSteps = ({ stage, seen }: Played): unknown => [
  stage.simulation.events - UNDISTURBED.stage.simulation.events,
  seen.length,
];
const ONE_SILENT_STEP = [1, UNDISTURBED.seen.length];

const ROWS: readonly Row[] = [
  {
    fault: 'agent_never_ready',
    where: nth('createSandbox'),
    shows: (played) => [played.liveAt(9 * M), first(played, 'sandboxFailed'), played.liveAt(11 * M)],
    is: [true, 10 * M + 200, false],
  },
  {
    fault: 'agent_crash_loop',
    where: `${BOX}/1`,
    models: BUSY,
    shows: (played) => [timesOf(played, 'runtimeCrashed').length, first(played, 'runtimeCrashed') < 3 * M],
    is: [1, true],
  },
  {
    fault: 'agent_hangs',
    where: DELIVER,
    shows: (played) => [first(played, 'itemDelivered'), first(played, 'agentReported'), delivered(played)],
    is: [DELIVERED_MS + 30_700, RESTS_MS + 30_700, 1],
  },
  {
    fault: 'agent_server_error',
    where: DELIVER,
    shows: (played) => [first(played, 'itemDelivered'), first(played, 'agentReported'), delivered(played)],
    is: [DELIVERED_MS + 700, RESTS_MS + 700, 1],
  },
  {
    fault: 'agent_half_response',
    where: DELIVER,
    // It had the message the first time, and took it once.
    shows: (played) => [first(played, 'itemDelivered'), first(played, 'agentReported'), delivered(played)],
    is: [DELIVERED_MS + 700, RESTS_MS, 1],
  },
  {
    fault: 'agent_frozen',
    where: WORK,
    // Without progress it is idle; the message in the second incarnation finds what was left to do.
    shows: (played) => [
      first(played, 'idleReached') < RESTS_MS + 20 * M,
      timesOf(played, 'agentReported').length,
      last(played, 'agentReported') > last(UNDISTURBED, 'agentReported'),
      cost(played) === cost(UNDISTURBED),
    ],
    is: [true, 1, true, true],
  },
  {
    fault: 'agent_stale_running',
    where: WATCH,
    shows: (played) => [first(played, 'agentReported') > RESTS_MS + S, first(played, 'idleReached')],
    is: [true, first(UNDISTURBED, 'idleReached')],
  },
  {
    fault: 'agent_wrong_idle_time',
    where: `${BOX}/idle 1`,
    shows: (played) => first(played, 'idleReached') > first(UNDISTURBED, 'idleReached') + S,
    is: true,
  },
  {
    fault: 'agent_clock_frozen',
    where: `${TALK}/report 1`,
    shows: (played) =>
      played.stateAt(10 * S, ({ executionStatusAt }) => executionStatusAt) ===
      UNDISTURBED.stateAt(5_200, ({ executionStatusAt }) => executionStatusAt),
    is: true,
  },
  {
    fault: 'agent_old_session_key',
    where: `${TALK}/report 4`,
    shows: silentSteps,
    is: ONE_SILENT_STEP,
  },
  {
    fault: 'callback_lost',
    where: WATCH,
    shows: (played) => {
      const unseenMs = first(played, 'agentReported') - RESTS_MS;
      return unseenMs > 0 && unseenMs <= 5 * S;
    },
    is: true,
  },
  { fault: 'callback_repeated', where: WATCH, shows: silentSteps, is: ONE_SILENT_STEP },
  { fault: 'callback_out_of_order', where: WATCH, shows: silentSteps, is: ONE_SILENT_STEP },
  {
    fault: 'gateway_rate_limited',
    where: WORK,
    models: BUSY,
    steps: [
      [0, start('a')],
      [0, start('b')],
    ],
    // Both of them, although one had the occasion; then both go on.
    shows: (played) => [
      played.seen.filter(({ event }) => event.type === 'agentReported' && event.report.status === 'PAUSED')
        .length,
      timesOf(played, 'itemDelivered').length,
    ],
    is: [2, 4],
  },
  {
    fault: 'gateway_unavailable',
    where: WORK,
    shows: (played) => [first(played, 'agentReported') !== RESTS_MS, cost(played) <= cost(UNDISTURBED)],
    is: [true, true],
  },
];

describe('faults of an agent', () => {
  it.each(ROWS)('$fault', ({ fault, where, shows, is, ...rest }) => {
    const played = play({ ...rest, keys: [`${fault}@${where}`] });
    expect(played.struck).toEqual([fault]);
    expect(shows(played)).toEqual(is);
    expect(played.stage.violations).toEqual([]);
  });
});

it('has a test for every fault of an agent', () => {
  const names = FAULT_NAMES.filter((name) => FAULTS[name].class === 'agent');
  expect(ROWS.map(({ fault }) => fault).sort()).toEqual([...names].sort());
});

describe('heal', () => {
  it('sets an agent going that stood still', () => {
    const keys = [`agent_frozen@${WORK}`];
    const steps = [[0, start('a')]] as const;
    const stillAtMs = first(play({ keys, steps }), 'idleReached') - 20 * M;
    const healedAtMs = stillAtMs + M;
    const healed = play({ keys, steps, safetyMs: healedAtMs });
    expect(first(healed, 'agentReported')).toBe(RESTS_MS + M);
    expect(healed.stage.violations).toEqual([]);
  });

  it('lets an agent report again that it rests', () => {
    const keys = [`agent_stale_running@${WATCH}`];
    const healed = play({ keys, safetyMs: RESTS_MS + S });
    expect(first(healed, 'agentReported')).toBe(RESTS_MS + S);
  });
});

describe('a limited gateway', () => {
  it.each([
    { status: 429, says: 'PAUSED', untilMs: 5 * M, spent: 1 },
    { status: 503, says: 'FINISHED', untilMs: 5 * M, spent: 1 },
    { status: 503, says: 'ERROR', untilMs: 2 * H, spent: 0 },
  ])('answers $status until $untilMs ms: $says', ({ status, says, untilMs, spent }) => {
    const reports: string[] = [];
    const stage = new FaultyStage({
      startAt: START_AT,
      models: MODELS_STEADY,
      policy: POLICY,
      seed: 7,
      faults: NO_FAULTS,
      onStep: ({ event }) => void (event.type === 'agentReported' && reports.push(event.report.status)),
    });
    stage.simulation.script(START_AT, () => act(stage, start('a'), 0));
    stage.simulation.script(START_AT + M, () =>
      stage.world.agents.strike({ status, until: START_AT + M + untilMs }),
    );
    stage.advanceTo(START_AT + D);
    expect(reports[0]).toBe(says);
    const share = stage.world.spentBy(TALK, START_AT + D) / cost(play({ steps: [[0, start('a')]] }));
    expect(Math.floor(share)).toBe(spent);
    expect(stage.violations).toEqual([]);
  });
});
