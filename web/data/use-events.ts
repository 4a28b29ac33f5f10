/**
 * A conversation's events as they come, over the stream of the API.
 * Owns the following and the bound; each event is there once and in order.
 */
import { useEffect, useState } from 'react';
import type { StreamedEvent } from '../../api/client/client.ts';
import { useSession } from '../session/session.ts';
import { isSignedOut, sentenceOf } from './problem.ts';

/** A page of more is slow to draw; the whole is in the trajectory. */
const EVENTS_SHOWN_MAX = 1_500;
/** Events that came within this time are drawn together: a long history comes in one piece. */
const TOGETHER_MS = 60;

export interface FollowedEvents {
  readonly events: readonly StreamedEvent[];
  /** How many earlier ones are not shown. */
  readonly hidden: number;
  /** The conversation was deleted. */
  readonly isOver: boolean;
  readonly problem: string | null;
}

const NONE: FollowedEvents = { events: [], hidden: 0, isOver: false, problem: null };

/** Nothing is followed while there is no id. */
export function useEvents(conversationId: string | null): FollowedEvents {
  const { client, signOut } = useSession();
  const [followed, setFollowed] = useState(NONE);
  useEffect(() => {
    if (conversationId === null) return;
    const end = new AbortController();
    let fresh: StreamedEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | null = null;
    const flush = (): void => {
      timer = null;
      const came = fresh;
      fresh = [];
      setFollowed((before) => withEvents(before, came));
    };
    const follow = async (): Promise<void> => {
      for await (const event of client.events(conversationId, { signal: end.signal })) {
        fresh.push(event);
        timer ??= setTimeout(flush, TOGETHER_MS);
      }
      setFollowed((before) => ({ ...before, isOver: true }));
    };
    follow().catch((error: unknown) => {
      if (end.signal.aborted) return;
      if (isSignedOut(error)) return signOut(sentenceOf(error));
      setFollowed((before) => ({ ...before, problem: sentenceOf(error) }));
    });
    return () => {
      end.abort();
      if (timer !== null) clearTimeout(timer);
      setFollowed(NONE);
    };
  }, [client, conversationId, signOut]);
  return followed;
}

function withEvents(before: FollowedEvents, came: readonly StreamedEvent[]): FollowedEvents {
  const last = before.events.at(-1)?.seq ?? 0;
  const all = [...before.events, ...came.filter(({ seq }) => seq > last)];
  const shown = all.slice(-EVENTS_SHOWN_MAX);
  return { ...before, events: shown, hidden: before.hidden + all.length - shown.length };
}
