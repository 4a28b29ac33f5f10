/**
 * The row that a sandbox projects of itself.
 * Owns what is projected and when a slot is held; must not change a state.
 */
import type { SandboxRow } from '../machine/projection.ts';
import { isReleaseReason } from '../status.ts';
import { transitionOf, type SandboxPhase, type SandboxState } from './state.ts';

export function rowOf(state: SandboxState): SandboxRow {
  const released =
    state.pauseReason !== null && isReleaseReason(state.pauseReason) && state.phase === 'released';
  return {
    table: 'sandbox',
    sandboxId: state.sandboxId,
    userId: state.userId,
    generation: state.generation,
    sequence: state.sequence,
    status: state.status,
    pauseReason: state.pauseReason,
    transition: transitionOf(state),
    detail: state.detail,
    stale: state.stale,
    createdAt: state.createdAt,
    createdBy: state.createdBy,
    sessionStartedAt: state.sessionStartedAt,
    releasedAt: state.releasedAt,
    available: state.phase === 'running' && state.wanted === null,
    holdsSlot: !released && !SLOTLESS.has(state.phase),
    archive: state.archive,
    ...(state.stopMs === undefined ? {} : { stopMs: state.stopMs }),
    ...(state.stoppedAt === undefined ? {} : { stoppedAt: state.stoppedAt }),
  };
}

/** Only its files are kept: not one that is `PAUSED` because an agent waits, nor one in transition. */
export function isReleased({
  status,
  releasedAt,
  transition,
}: Pick<SandboxRow, 'status' | 'releasedAt' | 'transition'>): boolean {
  return status === 'PAUSED' && releasedAt !== null && transition === null;
}

/** For good: its conversations need not distinguish the phases of a deletion. */
export function isLeaving(transition: SandboxRow['transition']): boolean {
  return transition === 'deleting' || transition === 'archiving';
}

/** In this generation still: a slot that is granted after its resume was given up would never be given back. */
export function isResuming(row: Pick<SandboxRow, 'transition' | 'generation'>, generation: number): boolean {
  return row.transition === 'resuming' && row.generation === generation;
}

/** Phases in which no runtime can be up. */
const SLOTLESS: ReadonlySet<SandboxPhase> = new Set<SandboxPhase>([
  'archiving',
  'destroying',
  'errorArchiving',
  'error',
  'errorDestroying',
  'errorEmpty',
  'missing',
]);
