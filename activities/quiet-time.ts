/**
 * For how long an agent has shown no progress, as far as somebody looked (D36).
 * Owns the sum: between two looks it grows by what a look was due after and some room, and no more. A machine that was
 * suspended, or whose clock was set forward, did not look meanwhile, and so did not see an agent that stood still.
 */
import { z } from 'zod';
import type { Json } from '../ports/engine-store.ts';

const quietSchema = z.object({
  /** Epoch milliseconds of the last look. */
  at: z.number(),
  /** When the next one was due. */
  dueAt: z.number(),
  quietMs: z.number(),
  /** When the newest event was received; null for none. */
  newestAt: z.number().nullable(),
});

export type QuietTime = z.infer<typeof quietSchema>;

/** A look that comes later than this many times what it was due after was kept from coming. */
const LATE_FACTOR = 4;

export interface QuietLook {
  readonly now: number;
  readonly newestAt: number | null;
  readonly nextAt: number;
}

/** `memory` is what the last look gave; anything else is the first look. */
export function quietTime(memory: Json, { now, newestAt, nextAt }: QuietLook): QuietTime {
  const known = quietSchema.safeParse(memory);
  if (!known.success) return { at: now, dueAt: nextAt, quietMs: 0, newestAt };
  const { at, dueAt, quietMs } = known.data;
  const gapMs = Math.min(Math.max(0, now - at), Math.max(0, dueAt - at) * LATE_FACTOR);
  const isQuiet = newestAt === known.data.newestAt;
  const sinceNewestMs = Math.min(gapMs, Math.max(0, now - (newestAt ?? now)));
  return { at: now, dueAt: nextAt, quietMs: isQuiet ? quietMs + gapMs : sinceNewestMs, newestAt };
}
