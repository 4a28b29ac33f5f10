/**
 * What the keeper of the warm pool does next: boot, adopt, give up, remove.
 * Pure and level-triggered: what there is comes in, what to do goes out, and nothing rests on what was done before.
 */
import { userId, type SandboxId } from '../ids.ts';
import { START_TIMEOUT_MS } from '../limits.ts';

/** Sandboxes of the pool that boot at once: a pool that fills up must not starve those that users wait for. */
export const WARM_BOOTS_AT_ONCE = 2;

/** Holds the slots of sandboxes that have no owner yet; with a space in it, no user is called so. */
export const NO_USER = userId('no user');

/** What a deployment wants. */
export interface WarmPoolTarget {
  /** Sandboxes kept ready; 0 keeps none. */
  readonly size: number;
  /** One that has been up for so long is replaced; well below the length of a session (D10). */
  readonly maxAgeMs: number;
  /** What its sandboxes are made with: one that was made with something else is of no use. */
  readonly spec: string;
}

/** One sandbox of the pool, as the store has it. */
export interface WarmSandbox {
  readonly sandboxId: SandboxId;
  readonly state: 'booting' | 'ready' | 'leaving';
  readonly spec: string;
  /** When its boot was ordered. */
  readonly reservedAt: number;
  /** Null until it is ready. */
  readonly bootedAt: number | null;
}

/** What the runtime said of it; absent where it was not asked. */
export type WarmPresence = 'up' | 'down' | 'unknown';

export interface WarmQuestion {
  readonly target: WarmPoolTarget;
  readonly held: readonly WarmSandbox[];
  readonly presences: ReadonlyMap<SandboxId, WarmPresence>;
  /** Boots that this process carries out at this moment. */
  readonly booting: ReadonlySet<SandboxId>;
  /** True after a boot that failed, until its pause is over. */
  readonly isBackingOff: boolean;
  readonly now: number;
}

/** Why a sandbox of the warm pool is let go. */
export type WarmReason = 'other_spec' | 'too_old' | 'not_up' | 'start_timeout' | 'surplus';

export interface WarmSteps {
  readonly giveUp: readonly { readonly sandboxId: SandboxId; readonly reason: WarmReason }[];
  /** Given up before: what is left of them goes. */
  readonly remove: readonly SandboxId[];
  /** Ordered by a process that has ended: the boot goes on. */
  readonly adopt: readonly SandboxId[];
  /** How many new ones to boot. */
  readonly boot: number;
}

/** What is to be done so that the warm pool is as it was asked for. */
export function warmSteps(question: WarmQuestion): WarmSteps {
  const { held, target, booting, isBackingOff } = question;
  const present = held.filter(({ state }) => state !== 'leaving');
  const unfit = present.flatMap((one) => {
    const reason = unfitness(one, question);
    return reason === null ? [] : [{ sandboxId: one.sandboxId, reason }];
  });
  const gone = new Set(unfit.map(({ sandboxId }) => sandboxId));
  const fit = present.filter(({ sandboxId }) => !gone.has(sandboxId)).sort(youngestFirst);
  const kept = fit.slice(0, target.size);
  const surplus = fit.slice(target.size);
  const unattended = kept.filter((one) => one.state === 'booting' && !booting.has(one.sandboxId));
  const room = isBackingOff ? 0 : Math.max(0, WARM_BOOTS_AT_ONCE - booting.size);
  const adopt = unattended.slice(0, room).map(({ sandboxId }) => sandboxId);
  return {
    giveUp: [...unfit, ...surplus.map(({ sandboxId }) => ({ sandboxId, reason: 'surplus' as const }))],
    remove: held.filter(({ state }) => state === 'leaving').map(({ sandboxId }) => sandboxId),
    adopt,
    boot: Math.min(room - adopt.length, target.size - kept.length),
  };
}

/** Null for one that is as it should be. One that could not be asked stays (D13). */
function unfitness(one: WarmSandbox, { target, presences, now }: WarmQuestion): WarmReason | null {
  if (one.spec !== target.spec) return 'other_spec';
  if (one.bootedAt === null) return now - one.reservedAt >= START_TIMEOUT_MS ? 'start_timeout' : null;
  if (presences.get(one.sandboxId) === 'down') return 'not_up';
  return isTooOld(one.bootedAt, target, now) ? 'too_old' : null;
}

/** Exact at the boundary, as every limit (D10). */
function isTooOld(bootedAt: number, { maxAgeMs }: WarmPoolTarget, now: number): boolean {
  return now - bootedAt >= maxAgeMs;
}

/** Those that are ready before those that boot; the old ones are the first to go. */
function youngestFirst(a: WarmSandbox, b: WarmSandbox): number {
  if ((a.bootedAt === null) !== (b.bootedAt === null)) return a.bootedAt === null ? 1 : -1;
  const age = (b.bootedAt ?? b.reservedAt) - (a.bootedAt ?? a.reservedAt);
  return age || (a.sandboxId < b.sandboxId ? -1 : 1);
}

/** What may be claimed: ready, of the spec that is wanted, and booted after this instant. */
export function bootedAfter({ maxAgeMs }: WarmPoolTarget, now: number): number {
  return now - maxAgeMs;
}
