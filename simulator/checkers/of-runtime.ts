/**
 * Invariants of what a sandbox has at its runtime: one object, of one generation, within the slots, archived before it goes.
 * Owns the checks on steps of a sandbox; must not read from the machine what is up.
 */
import { sessionEndOf } from '../../core/sandbox/session.ts';
import { hasWorkingAgent, type SandboxPhase, type SandboxState } from '../../core/sandbox/state.ts';
import { type Moment, PUNCTUAL, type SafetyCheck } from './checker.ts';

/**
 * I1: at most one live runtime object per sandbox, and so at most one generation alive. Must not read from the machine
 * what is up.
 */
export function oneLiveObject({ step, facts }: Moment): string | null {
  const { sandboxId } = step.after as SandboxState;
  const generations = facts.live.get(sandboxId);
  if (generations === undefined || generations.size <= 1) return null;
  return `generations ${[...generations].join(', ')} are alive at once`;
}

/**
 * I2: whatever is up holds a slot, and no more are held than the policy allows, in all and for one user (D17). Must not
 * decide which sandbox gets a slot.
 */
export function withinCapacity({ step, facts }: Moment): string | null {
  const { sandboxId } = step.after as SandboxState;
  if (facts.live.has(sandboxId) && !facts.slots.has(sandboxId)) return 'it is up, and holds no slot';
  const { installationMax, userMax } = facts.policy.capacity;
  const { slots } = facts;
  if (slots.size > installationMax)
    return `${slots.size} slots are held, and the limit is ${installationMax}`;
  if (slots.size <= userMax) return null;
  const byUser = new Map<string, number>();
  for (const user of slots.values()) byUser.set(user, (byUser.get(user) ?? 0) + 1);
  for (const [user, count] of byUser)
    if (count > userMax) return `user "${user}" holds ${count} slots of ${userMax}`;
  return null;
}

/**
 * I3: whatever is ordered of a runtime names the present generation (D14). A stale order would act on an incarnation
 * that is over.
 */
export function fencedOrders({ step }: Moment): string | null {
  const { generation } = step.after as SandboxState;
  for (const command of step.commands) {
    if ('generation' in command && command.generation !== generation)
      return `${command.type} is for generation ${command.generation}, and ${generation} is the present one`;
  }
  return null;
}

/** I4: MISSING is for ever, and ERROR is left only by a deletion, or with its host (D8, D33). */
export function absorbingEnds({ step }: Moment): string | null {
  const before = step.before as SandboxState | null;
  const after = step.after as SandboxState;
  if (before === null || before.status === after.status) return null;
  if (before.status === 'MISSING') return `MISSING became ${after.status}`;
  if (before.status !== 'ERROR') return null;
  if (after.status !== 'MISSING') return `ERROR became ${after.status}`;
  return after.deletedByUser || step.event.type === 'hostLost'
    ? null
    : 'ERROR became MISSING, and nobody deleted it';
}

/** I5: once a deletion is through, no runtime object is alive (D14). A resume in flight must not undo a deletion. */
export function deletedStaysGone({ step, facts }: Moment): string | null {
  const { phase, sandboxId } = step.after as SandboxState;
  if (phase !== 'missing' && phase !== 'errorEmpty') return null;
  const alive = facts.live.get(sandboxId)?.size ?? 0;
  return alive === 0 ? null : `it is ${phase}, and a runtime object of it is alive`;
}

/** I6: a workspace is removed only after its archive is durable, or its failure recorded (D12). */
export function archivedBeforeRemoved({ step, facts }: Moment): string | null {
  const state = step.after as SandboxState;
  if (!state.everReady || !step.commands.some(({ type }) => type === 'destroySandbox')) return null;
  if (state.archive === 'none') return 'its storage is removed, and there is no archive';
  if (state.archive === 'stored' && !facts.archived.has(state.sandboxId))
    return 'its archive counts as stored, and there is none';
  return null;
}

/**
 * I10: no session is longer than its window, even of a working agent; only a boot opens one (D10). Only core/ computes
 * how long the window is.
 */
export function sessionWindow({ step, timeliness = PUNCTUAL }: Moment): string | null {
  const before = step.before as SandboxState | null;
  const { phase, sessionStartedAt } = step.after as SandboxState;
  const opened = sessionStartedAt !== null && sessionStartedAt !== before?.sessionStartedAt;
  if (opened && step.event.type !== 'sandboxReady') return `${step.event.type} opened a session window`;
  if (phase !== 'running' || sessionStartedAt === null) return null;
  const end = sessionEndOf(sessionStartedAt) + timeliness.clockOffMs;
  // What else happens at the very instant may come before the deadline.
  const isLate = step.event.type === 'deadline' ? step.at >= end : step.at > timeliness.upAfter(end);
  return isLate ? `it runs ${step.at - sessionStartedAt} ms after its boot` : null;
}

const LEAVING: ReadonlySet<SandboxPhase> = new Set<SandboxPhase>([
  'stopping',
  'archiving',
  'destroying',
  'errorStopping',
  'errorArchiving',
  'error',
  'errorDestroying',
  'errorEmpty',
  'missing',
]);

/** I14: a sandbox that is going accepts no conversation: deletion and placement never both succeed (D11). */
export function nobodyJoinsTheLeaving({ step }: Moment): string | null {
  const before = step.before as SandboxState | null;
  if (before === null || !LEAVING.has(before.phase)) return null;
  const { attached } = step.after as SandboxState;
  const joined = Object.keys(attached).find((id) => !(id in before.attached));
  return joined === undefined ? null : `conversation ${joined} joined while it was ${before.phase}`;
}

/** I16: a sandbox runs only after its Agent Server answered in this generation. */
export function runningMeansReady({ step, facts }: Moment): string | null {
  const before = step.before as SandboxState | null;
  const { phase, generation, sandboxId } = step.after as SandboxState;
  if (phase !== 'running' || before?.phase === 'running') return null;
  if (step.event.type !== 'sandboxReady') return `${step.event.type} made it run`;
  // It may have died since its Agent Server answered: the answer can be late.
  const wasReady = facts.live.get(sandboxId)?.has(generation) === true || facts.wasUp(sandboxId, generation);
  return wasReady ? null : `generation ${generation} is not up`;
}

/**
 * I23: every session has a generation of its own, and is shown as PAUSED only while no agent works in it (D6, D14). It
 * remembers generations that ran.
 */
export function sessionsOfTheirOwn(): SafetyCheck {
  const ran = new Map<string, number>();
  const resumed = new Map<string, number>();
  return ({ step }: Moment) => {
    const before = step.before as SandboxState | null;
    const after = step.after as SandboxState;
    const { sandboxId, phase, generation, status } = after;
    for (const command of step.commands) {
      if (command.type !== 'resumeSandbox') continue;
      if (command.generation <= (resumed.get(sandboxId) ?? 1))
        return `generation ${command.generation} is brought up for the second time`;
      resumed.set(sandboxId, command.generation);
    }
    if (phase !== 'running') return null;
    if (status === 'PAUSED' && hasWorkingAgent(after))
      return 'it is shown as PAUSED, and an agent works in it';
    const known = ran.get(sandboxId) ?? 0;
    ran.set(sandboxId, generation);
    return before?.phase === 'running' || generation > known
      ? null
      : `generation ${generation} runs for the second time`;
  };
}
