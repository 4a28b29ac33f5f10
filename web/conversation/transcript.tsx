/**
 * The events of a conversation as a list that grows at its end.
 * Owns the following: the newest stays in view as long as nobody has scrolled away from it.
 */
import { useEffect, useRef, type ReactElement } from 'react';
import type { FollowedEvents } from '../data/use-events.ts';
import { EventItem } from './event-item.tsx';
import { isForPeople } from './event-text.ts';

/** Nearer to the end than this, a reader follows it. */
const FOLLOWS_PX = 80;

export function Transcript({ followed }: { readonly followed: FollowedEvents }): ReactElement {
  const list = useRef<HTMLOListElement>(null);
  const isFollowing = useRef(true);
  const shown = followed.events.filter(({ event }) => isForPeople(event));
  useEffect(() => {
    const { current } = list;
    if (current !== null && isFollowing.current) current.scrollTop = current.scrollHeight;
  }, [shown.length]);
  const onScroll = (): void => {
    const { current } = list;
    if (current === null) return;
    isFollowing.current = current.scrollHeight - current.scrollTop - current.clientHeight < FOLLOWS_PX;
  };
  return (
    <ol
      className="transcript card"
      ref={list}
      tabIndex={0}
      role="log"
      aria-label="Events"
      onScroll={onScroll}
    >
      {followed.hidden === 0 ? null : (
        <li className="event event-state">{followed.hidden} earlier events are in the trajectory</li>
      )}
      {shown.map(({ seq, event }) => (
        <EventItem key={seq} event={event} />
      ))}
      {shown.length === 0 ? <li className="event event-state">No event yet</li> : null}
      {followed.isOver ? <li className="event event-state">The conversation was deleted</li> : null}
    </ol>
  );
}
