/**
 * The last events of some entities as lines of text.
 * Owns the drawing; must not choose whose they are.
 */
import type { EntityAddress } from '../core/ids.ts';
import { eventText } from '../simulator/scenario/event-text.ts';
import type { PlayedWorld } from './played-world.ts';

type Source = Pick<PlayedWorld, 'elapsed' | 'startAt' | 'lastEvents'>;

/** `after 12h` and one line an event, indented. */
export function traceText(source: Source, entities: readonly EntityAddress[]): string {
  const lines = source.lastEvents(entities).map((event) => `  ${eventText(event, source.startAt)}`);
  return [`after ${source.elapsed}; its last events:`, ...(lines.length === 0 ? ['  none'] : lines)].join(
    '\n',
  );
}
