/**
 * Which sandbox a conversation gets: five strategies and the explicit choice (spec "Placement", D16).
 * Pure: candidates come in, a decision with its reasons goes out; must not reserve anything. What a pool of a run adds
 * is in core/placement/place-in-pool.ts.
 */
import type { RunId, SandboxId, UserId } from '../ids.ts';
import { fitsPin, type HostCandidate, type HostPin } from './choose-host.ts';
import { SESSION_LEFT_FOR_PLACEMENT_MS } from '../limits.ts';
import { sessionEndOf } from '../sandbox/session.ts';
import type { GroupingStrategy, SandboxStatus } from '../status.ts';

/** A sandbox as placement sees it. */
export interface PlacementCandidate {
  readonly sandboxId: SandboxId;
  readonly userId: UserId;
  readonly status: SandboxStatus;
  /** Runtime up and accepting conversations in its current generation. */
  readonly available: boolean;
  /** Being emptied: nothing is placed there any more. */
  readonly draining: boolean;
  readonly createdAt: number;
  readonly lastActivityAt: number;
  readonly sessionStartedAt: number | null;
  /** Attached conversations that are not deleted. */
  readonly attachedCount: number;
  /** Absent: it belongs to no pool. */
  readonly pool?: PooledSandbox;
  /** Where it lives; absent: bound to no host. */
  readonly host?: Pick<HostCandidate, 'name' | 'labels'>;
}

/** What the store has of a sandbox that a run keeps for itself. */
export interface PooledSandbox {
  readonly poolId: RunId;
  /** The affinity that it was taken for when it was empty; null: none was set. */
  readonly affinity: string | null;
  /** Conversations ever placed in it. */
  readonly placedCount: number;
  /** Conversations in it whose item goes on. */
  readonly heldCount: number;
}

export interface PlacementQuestion {
  readonly userId: UserId;
  readonly strategy: GroupingStrategy;
  readonly explicit: SandboxId | null;
  readonly excluded: readonly SandboxId[];
  readonly candidates: readonly PlacementCandidate[];
  readonly conversationsPerSandboxMax: number;
  /** What the host of its sandbox must be; absent: any will do. */
  readonly host?: HostPin | undefined;
  readonly now: number;
}

/** Why one sandbox was not taken. */
export const DISQUALIFICATIONS = [
  'other_user',
  'runtime_not_up',
  'draining',
  'full',
  'session_ends_soon',
  'refused_before',
  /** It belongs to the pool of a run, and the conversation does not. */
  'of_a_pool',
  /** It has had as many conversations, or is as old, as its pool allows. */
  'recycled',
  /** There is room, but others have it: a new sandbox of the pool comes first. */
  'other_affinity',
  /** It lives on a host that will not do. */
  'other_host',
] as const;
export type Disqualification = (typeof DISQUALIFICATIONS)[number];

/** Stored and shown: what was seen and which rule decided (D16). */
export interface PlacementDecision {
  readonly rule: GroupingStrategy | 'EXPLICIT';
  /** Null: a new sandbox. */
  readonly chosen: SandboxId | null;
  readonly seen: readonly { readonly sandboxId: SandboxId; readonly why: Disqualification | 'available' }[];
  /** The new sandbox was taken from the warm pool, and is up since then; absent: it is to be booted. */
  readonly bootedAt?: number;
  /** Absent: the job has no pool. */
  readonly pool?: {
    readonly poolId: RunId;
    /** Sandboxes of the pool before this decision, without those that are recycled and empty. */
    readonly living: number;
    /** True: the pool was full, and the sandbox is none of it. */
    readonly spilled: boolean;
  };
}

/** Why a conversation can be placed nowhere, also later. */
export interface PlacementRefusal {
  readonly code:
    | 'sandbox_error'
    | 'sandbox_missing'
    | 'not_found'
    | 'concurrency_limit_reached'
    | 'placement_failed'
    | 'pool_full'
    | 'queue_full';
  readonly reason: string;
  /** Of a refusal for want of a slot. */
  readonly slots?: { readonly limit: number; readonly current: number };
}

/** Where a conversation goes: into a sandbox there is, into a new one, or nowhere for now. */
export type Placement =
  | { readonly kind: 'existing'; readonly sandboxId: SandboxId; readonly decision: PlacementDecision }
  /** `otherwise`: has room as well, and is taken when no slot is free for a new one. */
  | { readonly kind: 'new'; readonly decision: PlacementDecision; readonly otherwise?: SandboxId }
  | { readonly kind: 'refused'; readonly refusal: PlacementRefusal };

/** Chooses. Explicit placement overrides the strategy and also takes a released sandbox, to be resumed (D16). */
export function place(question: PlacementQuestion): Placement {
  return question.explicit === null
    ? placeByStrategy(question)
    : placeExplicitly(question, question.explicit);
}

function placeExplicitly(question: PlacementQuestion, explicit: SandboxId): Placement {
  const found = question.candidates.find((candidate) => candidate.sandboxId === explicit);
  // A foreign record looks exactly like a missing one (D4).
  if (found === undefined || found.userId !== question.userId) {
    return refuse('not_found', `Cannot place the conversation: there is no sandbox "${explicit}"`);
  }
  if (found.status === 'ERROR')
    return refuse('sandbox_error', `Cannot place the conversation: sandbox "${explicit}" is in ERROR`);
  if (found.status === 'MISSING')
    return refuse('sandbox_missing', `Cannot place the conversation: sandbox "${explicit}" is MISSING`);
  if (found.draining)
    return refuse('sandbox_missing', `Cannot place the conversation: sandbox "${explicit}" is being removed`);
  if (question.excluded.includes(explicit)) {
    return refuse('placement_failed', `Cannot place the conversation: sandbox "${explicit}" refused it`);
  }
  if (found.attachedCount >= question.conversationsPerSandboxMax) {
    return refuse(
      'placement_failed',
      `Cannot place the conversation: sandbox "${explicit}" holds ${found.attachedCount} conversations, the most allowed`,
    );
  }
  const decision: PlacementDecision = {
    rule: 'EXPLICIT',
    chosen: explicit,
    seen: [{ sandboxId: explicit, why: 'available' }],
  };
  return { kind: 'existing', sandboxId: explicit, decision };
}

function refuse(code: PlacementRefusal['code'], reason: string): Placement {
  return { kind: 'refused', refusal: { code, reason } };
}

function placeByStrategy(question: PlacementQuestion): Placement {
  const { strategy } = question;
  if (strategy === 'NO_GROUPING')
    return { kind: 'new', decision: { rule: strategy, chosen: null, seen: [] } };
  const seen = [...question.candidates]
    .sort(byCreation)
    .map((candidate) => ({ candidate, why: disqualify(candidate, question) ?? ('available' as const) }));
  const available = seen.filter(({ why }) => why === 'available').map(({ candidate }) => candidate);
  const chosen = available.sort(PREFERENCE[strategy])[0]?.sandboxId ?? null;
  const decision: PlacementDecision = {
    rule: strategy,
    chosen,
    seen: seen.map(({ candidate, why }) => ({ sandboxId: candidate.sandboxId, why })),
  };
  return chosen === null ? { kind: 'new', decision } : { kind: 'existing', sandboxId: chosen, decision };
}

/** Null when the sandbox is available by the rule of D16. */
function disqualify(candidate: PlacementCandidate, question: PlacementQuestion): Disqualification | null {
  if (candidate.userId !== question.userId) return 'other_user';
  if (candidate.pool !== undefined) return 'of_a_pool';
  if (question.excluded.includes(candidate.sandboxId)) return 'refused_before';
  if (!candidate.available || candidate.sessionStartedAt === null) return 'runtime_not_up';
  if (isElsewhere(candidate, question)) return 'other_host';
  if (candidate.draining) return 'draining';
  if (candidate.attachedCount >= question.conversationsPerSandboxMax) return 'full';
  const left = sessionEndOf(candidate.sessionStartedAt) - question.now;
  return left < SESSION_LEFT_FOR_PLACEMENT_MS ? 'session_ends_soon' : null;
}

/** On a host that does not satisfy the request, or on none at all. */
export function isElsewhere({ host }: PlacementCandidate, { host: pin }: PlacementQuestion): boolean {
  return pin !== undefined && (host === undefined || !fitsPin(host, pin));
}

export type Order = (a: PlacementCandidate, b: PlacementCandidate) => number;

/** Ties go by creation, then id, so that the choice never depends on listing order. */
export const byCreation = (a: Created, b: Created): number =>
  a.createdAt - b.createdAt || (a.sandboxId < b.sandboxId ? -1 : 1);

type Created = Pick<PlacementCandidate, 'createdAt' | 'sandboxId'>;
type Used = Created & Pick<PlacementCandidate, 'lastActivityAt'>;

/** The one that has rested longest first. */
export const byActivity = (a: Used, b: Used): number =>
  a.lastActivityAt - b.lastActivityAt || byCreation(a, b);

export const PREFERENCE: Readonly<Record<Exclude<GroupingStrategy, 'NO_GROUPING'>, Order>> = {
  GROUP_BY_NEWEST: (a, b) => b.createdAt - a.createdAt || byCreation(a, b),
  LEAST_RECENTLY_USED: byActivity,
  FEWEST_CONVERSATIONS: (a, b) => a.attachedCount - b.attachedCount || byCreation(a, b),
  ADD_TO_ANY: byCreation,
};
