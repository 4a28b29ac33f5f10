/**
 * How much the sandboxes may have under way at the callback socket, each and all together (D31).
 * Owns the counting; a caller that is one too many is told to come again, and what it has to say is found by the poll.
 */
import { HeldBytes } from '../core/shares/held-bytes.ts';
import type { SandboxId } from '../core/ids.ts';
import { OwnerCounts } from '../core/shares/owner-counts.ts';

/** Bodies of one sandbox at a time: each of its conversations has one batch on its way. */
export const BODIES_PER_SANDBOX_MAX = 20;
/** Of all together. */
export const BODIES_MAX = 100;
/**
 * Bytes of bodies of one sandbox: one batch at its largest, and ordinary ones without end. Read as JSON, redacted and
 * stored, a batch takes some fifteen times its size before it is garbage.
 */
export const BODY_BYTES_PER_SANDBOX_MAX = 2 * 1024 * 1024;
/** Of all together; read as JSON they take a few times as much. */
export const BODY_BYTES_ALL_MAX = 16 * 1024 * 1024;
/** Bytes of records, which name their conversation and so come before a key can be judged. */
export const UNJUDGED_BYTES_MAX = 8 * 1024 * 1024;

/** What one callback will send, as it says; whoever does not say may send as much as the route takes. */
export interface WantedBody {
  readonly contentLength: string | undefined;
  readonly bytesMax: number;
}

export class WebhookAdmission {
  readonly #bodies = new OwnerCounts();
  readonly #bytes = new HeldBytes({ max: BODY_BYTES_ALL_MAX, perOwnerMax: BODY_BYTES_PER_SANDBOX_MAX });
  readonly #unjudged = new HeldBytes({ max: UNJUDGED_BYTES_MAX, perOwnerMax: UNJUDGED_BYTES_MAX });

  /** Null when there are too many; else the one call that gives the place back. */
  enter(id: SandboxId, wanted?: WantedBody): (() => void) | null {
    if (this.#bodies.of(id) >= BODIES_PER_SANDBOX_MAX || this.#bodies.all >= BODIES_MAX) return null;
    const hold = this.#bytes.hold(id);
    if (!hold.take(wanted === undefined ? 0 : bytesOf(wanted))) return null;
    this.#bodies.add(id, 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      hold.release();
      this.#bodies.add(id, -1);
    };
  }

  /** The same for a body that is read before anybody knows whose it is. */
  enterUnjudged(wanted: WantedBody): (() => void) | null {
    const hold = this.#unjudged.hold('');
    return hold.take(bytesOf(wanted)) ? () => hold.release() : null;
  }
}

function bytesOf({ contentLength, bytesMax }: WantedBody): number {
  const said = Number(contentLength);
  return contentLength !== undefined && said >= 0 && said <= bytesMax ? said : bytesMax;
}
