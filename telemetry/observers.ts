/**
 * Who looks on while a worker carries things out.
 * Owns the pair; must not look itself.
 */
import type { Meters } from './meters.ts';
import type { SpanSink } from './span.ts';

export interface Observers {
  readonly meters: Meters;
  /** Null when spans go nowhere. */
  readonly spans: SpanSink | null;
}
