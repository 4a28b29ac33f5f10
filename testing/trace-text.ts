/**
 * The last events of some entities as lines of text.
 * Owns the drawing; must not choose whose they are.
 */
import type { EntityAddress } from '../core/ids.ts';
import { formatDuration } from '../dsl/duration.ts';
import type { PastEvent } from '../simulator/scenario/last-events.ts';

interface Source {
  readonly elapsed: string;
  lastEvents(entities: readonly EntityAddress[]): readonly PastEvent[];
  elapsedAt(event: PastEvent): number;
}

/** `after 12h` and one line an event, indented. */
export function traceText(source: Source, entities: readonly EntityAddress[]): string {
  const events = source.lastEvents(entities);
  const lines = events.map((one) => {
    const changes = Object.entries(one.changes).map(([name, value]) => `${name}=${value ?? 'none'}`);
    return `  ${formatDuration(source.elapsedAt(one))} ${one.entity}: ${[one.event, ...changes].join(' ')}`;
  });
  return [`after ${source.elapsed}; its last events:`, ...(lines.length === 0 ? ['  none'] : lines)].join(
    '\n',
  );
}
