/** Every fault of a runtime by itself: it strikes once, does what its name says, and every invariant holds in the end. */
import { describe, expect, it } from 'vitest';
import { FAULT_NAMES, FAULTS, type FaultName } from '../../simulator/faults/catalogue.ts';
import type { FaultyStage } from '../../simulator/faults/faulty-stage.ts';
import { BUSY, D, M, S, start } from '../conformance/script-parts.ts';
import { BOX, nth, play, timesOf, UNDISTURBED, type Case, type Played } from './faults-parts.ts';

interface Row extends Omit<Case, 'keys'> {
  readonly fault: FaultName;
  readonly where: string;
  /** Faults that have to strike as well for this one to have an occasion. */
  readonly with?: readonly string[];
  readonly shows: (played: Played) => unknown;
  readonly is: unknown;
}

const CREATE = nth('createSandbox');
const STOP = nth('stopSandbox');
const ARCHIVE = nth('archiveWorkspace');
const DESTROY = nth('destroySandbox');
const SESSION = `${BOX}/1`;
/** When a fault struck, beside the first answer of a type in a world without it. */
const lateness =
  (type: Parameters<typeof timesOf>[1]) =>
  (played: Played): number =>
    (timesOf(played, type)[0] ?? NaN) - (timesOf(UNDISTURBED, type)[0] ?? NaN);
const isLate =
  (type: Parameters<typeof timesOf>[1], byMs: number) =>
  (played: Played): boolean =>
    lateness(type)(played) >= byMs;

/** A try of four seconds, and the wait before it. */
const ONE_MORE_BOOT = 4 * S + 500;
const ONE_MORE_STOP = 2 * S + 500;

const CALLS: readonly Row[] = [
  {
    fault: 'runtime_error_before_effect',
    where: STOP,
    shows: (played) => [lateness('sandboxStopped')(played), played.liveAt(2_288 * S)],
    is: [ONE_MORE_STOP, true],
  },
  {
    fault: 'runtime_effect_then_error',
    where: DESTROY,
    shows: lateness('sandboxDestroyed'),
    is: S + 500,
  },
  {
    fault: 'runtime_effect_then_timeout',
    where: STOP,
    shows: (played) => [isLate('sandboxStopped', 10 * S)(played), played.liveAt(2_288 * S)],
    is: [true, false],
  },
  { fault: 'runtime_slow', where: CREATE, shows: isLate('sandboxReady', M), is: true },
  {
    fault: 'runtime_duplicate_effect',
    where: CREATE,
    // Carried out again it meets the fence: there is one incarnation, and none after the release.
    shows: ({ stage, seen }) => [stage.simulation.played > UNDISTURBED.stage.simulation.played, seen.length],
    is: [true, UNDISTURBED.seen.length],
  },
  {
    fault: 'runtime_ready_too_early',
    where: CREATE,
    shows: (played) => [isLate('sandboxReady', S)(played), played.liveAt(5 * S)],
    is: [true, true],
  },
  {
    fault: 'runtime_wrong_state',
    where: STOP,
    shows: (played) => [lateness('sandboxStopped')(played), played.liveAt(2_288 * S)],
    is: [ONE_MORE_STOP, false],
  },
  {
    fault: 'runtime_partial_start',
    where: CREATE,
    shows: (played) => [lateness('sandboxReady')(played), played.foreignAt(5 * S), played.foreignAt(9 * S)],
    is: [ONE_MORE_BOOT, true, false],
  },
  {
    fault: 'runtime_name_conflict',
    where: CREATE,
    shows: (played) => [lateness('sandboxReady')(played), played.foreignAt(5 * S), played.foreignAt(9 * S)],
    is: [ONE_MORE_BOOT, true, false],
  },
  { fault: 'runtime_port_taken', where: CREATE, shows: lateness('sandboxReady'), is: ONE_MORE_BOOT },
  { fault: 'runtime_quota_refused', where: CREATE, shows: isLate('sandboxReady', M), is: true },
  {
    fault: 'runtime_disk_full',
    where: ARCHIVE,
    shows: (played) => [timesOf(played, 'archiveFailed').length, played.stage.world.archived.has(BOX)],
    is: [3, false],
  },
  ...(['archive_truncated', 'archive_corrupt'] as const).map((fault): Row => ({
    fault,
    where: ARCHIVE,
    shows: (played) => [timesOf(played, 'archiveFailed').length, timesOf(played, 'workspaceArchived')],
    is: [1, [21_610 * S]],
  })),
];

const busy = { steps: [[0, start('a')]], models: BUSY } as const;
const NEIGHBOURS = ['b', 'c', 'd', 'e', 'f'].map((name) => [0, start(name)] as const);
const crashes = (played: Played): number => timesOf(played, 'runtimeCrashed').length;
/** Milliseconds between a death and its sight. */
const unseenMs = (played: Played): number =>
  (timesOf(played, 'runtimeCrashed')[0] ?? NaN) -
  (played.firstOf((stage) => !stage.world.live.has(BOX), 4) ?? 0);
const KILLED = `runtime_killed@${SESSION}`;
const DEATH = `${BOX}/death 1`;

const INCIDENTS: readonly Row[] = [
  { fault: 'runtime_killed', where: SESSION, ...busy, shows: crashes, is: 1 },
  { fault: 'runtime_stopped_outside', where: SESSION, ...busy, shows: crashes, is: 1 },
  {
    fault: 'runtime_removed',
    where: SESSION,
    models: BUSY,
    steps: [
      [0, start('a')],
      [3.5 * D, { do: 'delete', of: 'a' }],
    ],
    safetyMs: 4 * D,
    shows: (played) => [
      timesOf(played, 'runtimeGone').length + timesOf(played, 'archiveFailed').length,
      played.stage.world.archived.has(BOX),
    ],
    is: [3, false],
  },
  {
    fault: 'runtime_frozen_outside',
    where: SESSION,
    ...busy,
    shows: (played) => [
      timesOf(played, 'runtimeUnknown').length,
      timesOf(played, 'runtimeAnswered').length,
      crashes(played),
    ],
    is: [1, 1, 0],
  },
  {
    fault: 'runtime_unreachable',
    where: SESSION,
    ...busy,
    shows: (played) => [
      timesOf(played, 'runtimeUnknown').length,
      timesOf(played, 'runtimeAnswered').length,
      crashes(played),
    ],
    is: [1, 1, 0],
  },
  {
    fault: 'runtime_daemon_restart',
    where: SESSION,
    models: BUSY,
    steps: [[0, start('a')], ...NEIGHBOURS],
    shows: crashes,
    is: 6,
  },
  {
    fault: 'runtime_node_drained',
    where: SESSION,
    models: BUSY,
    steps: [[0, start('a')], ...NEIGHBOURS],
    shows: (played) => crashes(played) > 0 && crashes(played) < 6,
    is: true,
  },
  {
    fault: 'runtime_started_outside',
    where: SESSION,
    steps: [[0, start('a')]],
    safetyMs: 4 * D,
    shows: (played) => [played.firstOf(({ world }) => [...world.foreign()].length > 0, 10 * S) !== null],
    is: [true],
  },
  {
    fault: 'runtime_list_repeats',
    where: `${BOX}/sweep 1`,
    with: [`runtime_started_outside@${SESSION}`],
    steps: [[0, start('a')]],
    safetyMs: 4 * D,
    // Twice in one list is one sighting: the object outlives the first sweep, and not the second.
    shows: (played) => {
      const isThere = ({ world }: FaultyStage): boolean => [...world.foreign()].length > 0;
      const from = played.firstOf(isThere, S) ?? NaN;
      return [played.foreignAt(from + 65 * S), played.foreignAt(from + 125 * S)];
    },
    is: [true, false],
  },
  {
    fault: 'runtime_look_stale',
    where: `${BOX}/look 2`,
    with: [KILLED],
    ...busy,
    shows: (played) => unseenMs(played) > 5 * S,
    is: true,
  },
  {
    fault: 'runtime_list_omits',
    where: `${BOX}/look 1`,
    shows: ({ stage, seen }) => [
      stage.simulation.played > UNDISTURBED.stage.simulation.played,
      seen.filter(({ event }) => event.type === 'runtimeGone').length,
    ],
    is: [true, 0],
  },
  {
    fault: 'runtime_event_lost',
    where: DEATH,
    with: [KILLED],
    ...busy,
    shows: (played) => unseenMs(played) > 4 * S,
    is: true,
  },
  {
    fault: 'runtime_event_repeated',
    where: DEATH,
    with: [KILLED],
    ...busy,
    shows: crashes,
    is: 1,
  },
  {
    fault: 'runtime_event_late',
    where: DEATH,
    with: [KILLED],
    ...busy,
    shows: (played) => unseenMs(played) > S,
    is: true,
  },
  {
    fault: 'runtime_events_cut',
    where: SESSION,
    ...busy,
    shows: ({ stage }) => stage.simulation.played > UNDISTURBED_BUSY.stage.simulation.played,
    is: true,
  },
  {
    fault: 'runtime_pid_reused',
    where: DEATH,
    with: [KILLED],
    ...busy,
    shows: (played) => unseenMs(played) > 5 * S,
    is: true,
  },
];
const UNDISTURBED_BUSY = play({ ...busy });

it('has a test for every fault of a runtime', () => {
  const names = FAULT_NAMES.filter((name) => FAULTS[name].class === 'runtime');
  expect([...CALLS, ...INCIDENTS].map(({ fault }) => fault).sort()).toEqual([...names].sort());
});

describe('heal', () => {
  it.each(['runtime_frozen_outside', 'runtime_unreachable'] as const)('ends %s', (fault) => {
    const given = { ...busy, keys: [`${fault}@${SESSION}`] };
    const silentAtMs = play(given).firstOf(({ world }) => world.runtime.isSilent(BOX), S);
    if (silentAtMs === null) throw new Error('Cannot heal what never happened');
    const healed = play({ ...given, safetyMs: silentAtMs });
    expect(healed.stage.world.runtime.isSilent(BOX)).toBe(false);
    expect(timesOf(healed, 'runtimeUnknown')).toEqual([]);
    expect(healed.stage.violations).toEqual([]);
  });
});

describe('the news of a death', () => {
  it.each([
    'runtime_event_lost',
    'runtime_event_repeated',
    'runtime_event_late',
    'runtime_pid_reused',
  ] as const)('%s brings a death of its own', (fault) => {
    const played = play({ ...busy, keys: [`${fault}@${SESSION}`] });
    expect(played.struck).toEqual([fault]);
    expect(crashes(played)).toBe(1);
    expect(played.stage.violations).toEqual([]);
  });
});

describe.each([
  ['calls', CALLS],
  ['incidents', INCIDENTS],
])('faults of a runtime: %s', (_, rows) => {
  it.each(rows)('$fault', ({ fault, where, with: others = [], shows, is, ...rest }) => {
    const played = play({ ...rest, keys: [`${fault}@${where}`, ...others] });
    expect(played.struck).toContain(fault);
    expect(played.struck).toHaveLength(1 + others.length);
    expect(shows(played)).toEqual(is);
    expect(played.stage.violations).toEqual([]);
  });
});
