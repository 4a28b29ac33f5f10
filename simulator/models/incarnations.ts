/**
 * The listener for incarnations of sandboxes in the models.
 * Owns the shape only; what follows from one is the listener's.
 */
import type { SandboxId } from '../../core/ids.ts';

/** Notified of incarnations that came up or were stopped. */
export interface Incarnations {
  started(incarnation: Incarnation): void;
  stopped(incarnation: Incarnation): void;
}

export interface Incarnation {
  readonly sandboxId: SandboxId;
  readonly generation: number;
}
