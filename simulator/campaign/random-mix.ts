/**
 * Which faults strike in a case, and how often: every case switches most kinds off, so that the rest combine freely.
 * Owns the shares; what a kind does is said in faults/.
 */
import { FAULT_NAMES, FAULTS, type FaultMix, type FaultName } from '../faults/catalogue.ts';
import type { RandomStream } from '../random.ts';
import type { Aim } from './aims.ts';
import { magnitude, pick, some } from './choose.ts';

/** Share of the kinds that are on; now and then a case has none at all. */
const ON_SHARES = [0, 0.08, 0.2, 0.4] as const;
const ON_WEIGHTS = [1, 4, 4, 2] as const;
const RATE_MIN = 0.002;
const RATE_MAX = 0.15;
/** The kind that a case aims at strikes often, and not always: what follows a fault is of interest, too. */
const AIMED_RATE_MIN = 0.05;
const AIMED_RATE_MAX = 0.5;
/** For kinds with few opportunities. */
const NEEDY_RATE = 0.7;

/** Kinds with few opportunities in a case: on, they strike at many of them. */
const SELDOM: ReadonlySet<FaultName> = new Set<FaultName>([
  'runtime_look_stale',
  'runtime_event_lost',
  'runtime_event_repeated',
  'runtime_event_late',
  'runtime_pid_reused',
  'runtime_started_outside',
  'runtime_wrong_state',
  'runtime_name_conflict',
  'runtime_partial_start',
  'archive_truncated',
  'archive_corrupt',
  'agent_frozen',
  'agent_stale_running',
  'agent_wrong_idle_time',
  'agent_old_session_key',
  'agent_never_ready',
  'callback_lost',
  'callback_repeated',
  'callback_out_of_order',
  'client_on_shared',
]);
const SELDOM_RATE_MIN = 0.1;
const SELDOM_RATE_MAX = 0.8;
/** Decided at the boot of a sandbox, and not every one lives long enough for it. */
const OF_A_BOOT: ReadonlySet<FaultName> = new Set<FaultName>([
  'runtime_killed',
  'runtime_removed',
  'runtime_frozen_outside',
  'runtime_stopped_outside',
  'runtime_unreachable',
  'runtime_daemon_restart',
  'runtime_events_cut',
  'runtime_node_drained',
  'agent_crash_loop',
  'agent_clock_frozen',
  'runtime_ready_too_early',
  'runtime_port_taken',
]);
const BOOT_RATE_MIN = 0.02;
const BOOT_RATE_MAX = 0.5;

/** Kinds that strike only where something else has died, or was lost. */
const NEED_A_DEATH: readonly FaultName[] = [
  'runtime_look_stale',
  'runtime_list_repeats',
  'runtime_event_lost',
  'runtime_event_repeated',
  'runtime_event_late',
  'runtime_pid_reused',
];
const OUTAGES: readonly FaultName[] = ['gateway_rate_limited', 'gateway_unavailable'];
const DEATHS = { runtime_killed: 0.5, runtime_stopped_outside: 0.2, runtime_removed: 0.1 } as const;

export function randomMix(stream: RandomStream, aim: Aim | null, aimed: readonly FaultName[]): FaultMix {
  const share = pick(stream, ON_SHARES, ON_WEIGHTS);
  const mix: Partial<Record<FaultName, number>> = {};
  for (const fault of some(stream, FAULT_NAMES, share)) mix[fault] = rateOf(fault, stream);
  if (NEED_A_DEATH.some((fault) => mix[fault] !== undefined)) mix.runtime_killed ??= BOOT_RATE_MAX / 2;
  if (aim?.kind === 'fault') mix[aim.fault] = magnitude(stream, AIMED_RATE_MIN, AIMED_RATE_MAX);
  if (aim?.kind === 'fault' && NEED_A_DEATH.includes(aim.fault))
    Object.assign(mix, { ...DEATHS, [aim.fault]: NEEDY_RATE });
  for (const fault of aimed) mix[fault] ??= RATE_MIN;
  return mix;
}

function rateOf(fault: FaultName, stream: RandomStream): number {
  if (SELDOM.has(fault)) return magnitude(stream, SELDOM_RATE_MIN, SELDOM_RATE_MAX);
  if (OF_A_BOOT.has(fault)) return magnitude(stream, BOOT_RATE_MIN, BOOT_RATE_MAX);
  return magnitude(stream, RATE_MIN, RATE_MAX);
}

/** Of the class that a pair names, half of the kinds, so that no one kind is always the first to strike. */
export function aimedKinds(stream: RandomStream, aim: Aim | null): readonly FaultName[] {
  if (aim?.kind !== 'pair') return [];
  const kinds = FAULT_NAMES.filter((fault) => FAULTS[fault].class === aim.pair.faultClass);
  const chosen = some(stream, kinds, 0.5);
  if (chosen.length === 0) return kinds;
  // Where no agent is up, only an outage of the gateway can strike: it shows at another agent.
  return aim.pair.faultClass === 'agent' ? [...new Set([...chosen, ...OUTAGES])] : chosen;
}
