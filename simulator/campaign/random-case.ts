/**
 * A case: everything that a seed stands for. The same seed gives the same case, whatever was played before.
 * Owns the phases of time and how the parts come together; each part has a file of its own.
 */
import { HOST_STRATEGIES } from '../../core/placement/choose-host.ts';
import { GROUPING_STRATEGIES } from '../../core/status.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { FaultMix, FaultName } from '../faults/catalogue.ts';
import { HOST_INCIDENT_NAMES, type HostIncident } from '../hosts/host-incident.ts';
import type { HostSetting, HostsSetting } from '../hosts/host-setting.ts';
import { uniform } from '../models/distribution.ts';
import type { ModelOptions, Policy } from '../models/model-options.ts';
import { RandomStream } from '../random.ts';
import { aimOf, type Aim } from './aims.ts';
import { between, wholeMagnitude, pick } from './choose.ts';
import { leaningsFor, randomLeanings, type Leanings } from './leanings.ts';
import { randomActions, type TimedAction } from './random-actions.ts';
import { aimedKinds, randomMix } from './random-mix.ts';
import { randomModels } from './random-models.ts';
import type { Reaction } from './reactions.ts';

export interface CampaignCase {
  readonly seed: number;
  readonly aim: Aim | null;
  readonly policy: Policy;
  readonly models: ModelOptions;
  readonly actions: readonly TimedAction[];
  readonly reactions: readonly Reaction[];
  /** What happens to hosts; none where sandboxes are bound to none. */
  readonly incidents: readonly TimedIncident[];
  readonly mix: FaultMix;
  /** Kinds that strike where the aim wishes it; none without an aim at a pair. */
  readonly aimedKinds: readonly FaultName[];
  /** Time in which faults strike, at least a day. */
  readonly safetyMs: number;
  /** Time without faults that follows: everything has to come to rest in it. */
  readonly healingMs: number;
}

/** Most cases play a day; some are long enough for the Deletion Time. */
const SAFETY_DAYS = [1, 1.5, 3, 6, 12] as const;
const SAFETY_WEIGHTS = [10, 5, 3, 1, 1] as const;
/** Longer than every retry, timeout and Deletion Time retry of the rules. */
const HEALING_MS = DAY_MS;

/** In so many cases of hosts nothing else fails: then all that is seen is theirs. */
const HOSTS_ALONE_SHARE = 0.5;

/** The same case, whose sandboxes live on hosts that fail. */
export function hostedCase(seed: number): CampaignCase {
  const played = randomCase(seed);
  const { safetyMs, policy } = played;
  const random = new RandomStream(seed).split('hosts');
  const { setting, incidents } = randomHosts(random, { safetyMs, policy });
  const hosted = { ...played, policy: { ...policy, hosts: setting }, incidents };
  return random.happens(HOSTS_ALONE_SHARE) ? { ...hosted, aim: null, mix: {}, aimedKinds: [] } : hosted;
}

/** The same seed gives the same case. */
export function randomCase(seed: number): CampaignCase {
  const random = new RandomStream(seed).split('case');
  const aim = aimOf(seed);
  const leanings =
    aim?.kind === 'pair'
      ? leaningsFor(aim.pair.transition, random.split('leanings'))
      : randomLeanings(random.split('leanings'));
  const aimed = aimedKinds(random.split('aimed kinds'), aim);
  const safetyMs = Math.round(pick(random.split('time'), SAFETY_DAYS, SAFETY_WEIGHTS) * DAY_MS);
  return {
    seed,
    aim,
    policy: leaningPolicy(randomPolicy(random.split('policy')), leanings, random.split('leaning policy')),
    models: leaningModels(random.split('models'), leanings),
    actions: randomActions(random.split('actions'), { safetyMs, plan: planConstraints(leanings) }),
    reactions: leanings.reactions,
    incidents: [],
    mix: leaningMix(randomMix(random.split('mix'), aim, aimed), leanings),
    aimedKinds: aimed,
    safetyMs,
    healingMs: HEALING_MS,
  };
}

function leaningPolicy(policy: Policy, leanings: Leanings, stream: RandomStream): Policy {
  const { limits, capacity } = policy;
  const crowded = leanings.crowded
    ? ({
        onFull: 'queue',
        capacity: { ...capacity, installationMax: between(stream, 1, 2), userMax: 2 },
      } as const)
    : {};
  if (leanings.turnover) {
    return {
      ...policy,
      onFull: stream.happens(0.5) ? 'queue' : 'pause_longest_idle',
      capacity: { installationMax: between(stream, 1, 3), userMax: 3, conversationsPerSandboxMax: 1 },
      limits: { ...limits, idleTimeMs: wholeMagnitude(stream, 2 * MINUTE_MS, 15 * MINUTE_MS) },
    };
  }
  if (leanings.misread) {
    return {
      ...policy,
      capacity: { installationMax: 10, userMax: 10, conversationsPerSandboxMax: 20 },
      limits: { idleTimeMs: MINUTE_MS, deletionTimeMs: null },
    };
  }
  const deletionTimeMs = leanings.shortLived
    ? wholeMagnitude(stream, HOUR_MS, 6 * HOUR_MS)
    : limits.deletionTimeMs;
  return { ...policy, ...crowded, limits: { ...limits, deletionTimeMs } };
}

/** Every third message between machines is late, or nearly every one. */
const DELAYED_RATES = {
  no: {},
  some: { tell_delayed: 0.35 },
  much: { tell_delayed: 0.9, answer_late: 0.3 },
} as const;
/** Nearly every placement reads an old row. */
const MISREAD_RATE = 0.95;

function leaningMix(mix: FaultMix, { delayed, misread }: Leanings): FaultMix {
  const late = { ...mix, ...DELAYED_RATES[delayed] };
  return misread ? { ...late, store_old_replica: MISREAD_RATE } : late;
}

/** Longer than a start, a resume, an archive or a stop may take. */
const OVERDUE = uniform(MINUTE_MS, 40 * MINUTE_MS);
/** A start has five steps and half an hour. */
const OVERDUE_CALL = uniform(MINUTE_MS, 15 * MINUTE_MS);

function leaningModels(stream: RandomStream, { pace, stubborn, failing }: Leanings): ModelOptions {
  const models = randomModels(stream, { slow: pace === 'slow', stubborn, failing });
  if (pace !== 'overdue') return models;
  const { runtime } = models;
  return {
    ...models,
    agentCall: OVERDUE_CALL,
    runtime: {
      boot: stream.happens(0.5) ? OVERDUE : runtime.boot,
      resume: stream.happens(0.5) ? OVERDUE : runtime.resume,
      stop: stream.happens(0.3) ? OVERDUE_CALL : runtime.stop,
      archive: stream.happens(0.7) ? uniform(10 * MINUTE_MS, 2 * HOUR_MS) : runtime.archive,
      destroy: runtime.destroy,
    },
  };
}

function planConstraints({ settle, hasty, retry, tells, warms, short }: Leanings) {
  return { settle, hasty, retry, tells, warms, itemsMax: short ? 2 : null };
}

/** How often a rule is switched off altogether. */
const OFF_SHARE = 0.08;

/** A lifecycle policy by chance, tight enough that its limits are met. */
function randomPolicy(stream: RandomStream): Policy {
  const idleTimeMs = stream.happens(OFF_SHARE) ? null : wholeMagnitude(stream, MINUTE_MS, 2 * HOUR_MS);
  const deletionTimeMs = stream.happens(OFF_SHARE) ? null : wholeMagnitude(stream, HOUR_MS, 10 * DAY_MS);
  const installationMax = between(stream, 1, 10);
  return {
    limits: { idleTimeMs, deletionTimeMs },
    capacity: {
      installationMax,
      userMax: stream.happens(0.5) ? installationMax : between(stream, 1, 10),
      conversationsPerSandboxMax: pick(stream, [1, 2, 3, 20]),
    },
    onFull: pick(stream, ['refuse', 'queue', 'pause_longest_idle']),
    grouping: pick(stream, GROUPING_STRATEGIES),
  };
}

/**
 * Hosts by chance: how many, how large, how they are filled, and what befalls them in the time in which faults strike.
 * Owns the ranges; what an incident does is defined in simulator/hosts/.
 */
interface TimedIncident {
  /** Milliseconds from the beginning. */
  readonly atMs: number;
  readonly incident: HostIncident;
}

const HOSTS_MAX = 5;
/** From the least that a deployment may have to more than any should. */
const LEASE = { minMs: 10 * SECOND_MS, maxMs: 10 * MINUTE_MS } as const;
/** How often others wait longer than the lease before they give a host up. */
const SILENT_SHARE = 0.5;
const INCIDENTS_MAX = 14;
/** From less than a lease to most of a day. */
const LASTS = { minMs: 5 * SECOND_MS, maxMs: 8 * HOUR_MS } as const;
const TIMES_MAX = 60;
/** In some cases every sandbox requires a kind of host that not all of them are. */
const PIN_SHARE = 0.3;
const ZONES = ['east', 'west'] as const;

function randomHosts(
  stream: RandomStream,
  { safetyMs, policy }: { readonly safetyMs: number; readonly policy: Policy },
): { readonly setting: HostsSetting; readonly incidents: readonly TimedIncident[] } {
  const count = between(stream, 1, HOSTS_MAX);
  const { installationMax } = policy.capacity;
  const hosts = Array.from({ length: count }, (_, index): HostSetting => {
    const labels = { zone: pick(stream, ZONES) };
    return { name: `host-${index + 1}`, capacity: between(stream, 1, Math.max(1, installationMax)), labels };
  });
  const [first] = hosts;
  const zone = first?.labels?.['zone'] ?? ZONES[0];
  const setting: HostsSetting = {
    strategy: pick(stream, HOST_STRATEGIES),
    leaseMs: wholeMagnitude(stream, LEASE.minMs, LEASE.maxMs),
    ...(stream.happens(SILENT_SHARE) ? { silentMs: wholeMagnitude(stream, LEASE.minMs, LEASE.maxMs) } : {}),
    hosts,
    ...(stream.happens(PIN_SHARE) ? { pin: { labels: { zone } } } : {}),
  };
  const incidents = Array.from({ length: between(stream, 1, INCIDENTS_MAX) }, () => ({
    atMs: between(stream, 0, safetyMs),
    incident: randomIncident(stream, hosts),
  }));
  return { setting, incidents: incidents.sort((a, b) => a.atMs - b.atMs) };
}

function randomIncident(stream: RandomStream, hosts: readonly HostSetting[]): HostIncident {
  const name = pick(stream, HOST_INCIDENT_NAMES);
  const { name: host } = pick(stream, hosts);
  const forMs = wholeMagnitude(stream, LASTS.minMs, LASTS.maxMs);
  return { name, host, forMs, ...(name === 'host_slow' ? { times: between(stream, 2, TIMES_MAX) } : {}) };
}
