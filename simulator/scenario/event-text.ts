/**
 * One past event in words, for people who read why something failed.
 * Owns the wording; a trace has the same steps whole.
 */
import { formatDuration } from '../../dsl/duration.ts';
import type { PastEvent } from './last-events.ts';

/** Ids are cut to what distinguishes them. */
const ID_SHOWN = 8;

/** `11h59m58s sandbox/1f8e22c0 idleReached: phase=pausing, transition=pausing` */
export function eventText({ at, entity, event, changes }: PastEvent, startAt: number): string {
  const changed = Object.entries(changes).map(
    ([name, value]) => `${name}=${shownValue(name, value, startAt)}`,
  );
  const after = changed.length === 0 ? '' : `: ${changed.join(', ')}`;
  return `${formatDuration(at - startAt)} ${shortEntity(entity)} ${event}${after}`;
}

/** Instants stand as the time since the beginning, like the event itself. */
function shownValue(name: string, value: PastEvent['changes'][string] | undefined, startAt: number): string {
  if (typeof value === 'number' && name.endsWith('At')) return formatDuration(value - startAt);
  return String(value ?? 'none');
}

function shortEntity(entity: string): string {
  const [machine = '', id = ''] = entity.split('/');
  return `${machine}/${id.slice(0, ID_SHOWN)}`;
}
