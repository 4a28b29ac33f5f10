/**
 * How much the sandboxes may have under way at the callback socket, each and all together (D31).
 * Owns the counting; a caller that is one too many is told to come again, and what it has to say is found by the poll.
 */
import type { SandboxId } from '../core/ids.ts';

/** Bodies of one sandbox at a time: each of its conversations has one batch on its way. */
export const BODIES_PER_SANDBOX_MAX = 20;
/** Of all together: so much memory can be held by bodies, each of which has a bound of its own. */
export const BODIES_MAX = 100;

export class WebhookAdmission {
  readonly #ofSandbox = new Map<SandboxId, number>();
  #all = 0;

  /** Null when there are too many; else the one call that gives the place back. */
  enter(id: SandboxId): (() => void) | null {
    const own = this.#ofSandbox.get(id) ?? 0;
    if (own >= BODIES_PER_SANDBOX_MAX || this.#all >= BODIES_MAX) return null;
    this.#ofSandbox.set(id, own + 1);
    this.#all += 1;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#all -= 1;
      const left = (this.#ofSandbox.get(id) ?? 1) - 1;
      if (left === 0) this.#ofSandbox.delete(id);
      else this.#ofSandbox.set(id, left);
    };
  }
}
