/**
 * A conversation's events: the newest as they come over the stream of the API, earlier ones when they are asked for.
 * Owns the following, and what was asked for; the bounds are the window's.
 */
import { startTransition, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Client, PartialEvent, StreamedEvent } from '../../api/client/client.ts';
import { wait } from '../../api/client/transport.ts';
import { useSession } from '../session/session.ts';
import {
  earlierCount,
  EMPTY_WINDOW,
  type EventWindow,
  PAGE_EVENTS,
  placed,
  readStretch,
  type Stretch,
  withEarlier,
  withLater,
  withStreamed,
} from './event-window.ts';
import { reportAnswer, reportProblem } from './outage.ts';
import { NO_PARTIALS, type PartialTexts, withoutEvents, withPartial } from './partial-texts.ts';
import { isSignedOut, isUnreachable, sentenceOf } from './problem.ts';
import { LIVE_MS } from './use-polled.ts';

/** Events that came within this time are drawn together: a long history comes in one piece. */
const TOGETHER_MS = 60;

export interface FollowedEvents extends EventWindow {
  /** What is not an event yet. */
  readonly partials: PartialTexts;
  /** The conversation was deleted. */
  readonly isOver: boolean;
  readonly problem: string | null;
  /** A stretch is being read. */
  readonly isReading: boolean;
  earlier(): void;
  later(): void;
  newest(): void;
  /** What stands around an event. */
  goTo(seq: number): void;
}

/** Nothing is followed while there is no id. */
export function useEvents(conversationId: string | null): FollowedEvents {
  const { client, signOut } = useSession();
  const [window, setWindow] = useState(EMPTY_WINDOW);
  const [partials, setPartials] = useState(NO_PARTIALS);
  const [isOver, setIsOver] = useState(false);
  const [isReading, setIsReading] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const end = useRef(new AbortController());

  const onProblem = useCallback(
    (error: unknown) => {
      if (isSignedOut(error)) signOut(sentenceOf(error));
      else setProblem(sentenceOf(error));
    },
    [signOut],
  );

  useEffect(() => {
    if (conversationId === null) return;
    const ended = new AbortController();
    end.current = ended;
    const take = (came: readonly StreamedEvent[], partial: readonly PartialEvent[]): void =>
      startTransition(() => {
        // An empty one says that there is nothing to read.
        if (came.length > 0 || partial.length === 0) setWindow((before) => withStreamed(before, came));
        setPartials((before) => withoutEvents(partial.reduce(withPartial, before), came));
      });
    follow(client, conversationId, { signal: ended.signal, take }).then(
      () => setIsOver(true),
      (error: unknown) => {
        if (!ended.signal.aborted) onProblem(error);
      },
    );
    return () => {
      ended.abort();
      setWindow(EMPTY_WINDOW);
      setPartials(NO_PARTIALS);
      setIsOver(false);
      setProblem(null);
    };
  }, [client, conversationId, onProblem]);

  const read = useCallback(
    (stretch: Stretch, take: (before: EventWindow, came: readonly StreamedEvent[]) => EventWindow) => {
      if (conversationId === null) return;
      const { signal } = end.current;
      setIsReading(true);
      readStretch(client, conversationId, { ...stretch, signal })
        .then((came) => startTransition(() => setWindow((before) => take(before, came))))
        .catch((error: unknown) => {
          if (!signal.aborted) onProblem(error);
        })
        .finally(() => setIsReading(false));
    },
    [client, conversationId, onProblem],
  );
  const ways = useMemo(() => waysOf(window, read), [window, read]);
  return { ...window, partials, isOver, problem, isReading, ...ways };
}

function waysOf(
  window: EventWindow,
  read: (
    stretch: Stretch,
    take: (before: EventWindow, came: readonly StreamedEvent[]) => EventWindow,
  ) => void,
): Pick<FollowedEvents, 'earlier' | 'later' | 'newest' | 'goTo'> {
  const { events, total } = window;
  const until = earlierCount(window);
  const last = events.at(-1)?.seq ?? 0;
  return {
    earlier: () => read({ from: Math.max(1, until - PAGE_EVENTS + 1), until }, withEarlier),
    later: () => read({ from: last + 1, until: Math.min(total, last + PAGE_EVENTS) }, withLater),
    newest: () => read({ from: Math.max(1, total - PAGE_EVENTS + 1), until: total }, placed),
    goTo: (seq) => {
      const half = PAGE_EVENTS / 2;
      read({ from: Math.max(1, seq - half), until: Math.min(Math.max(total, seq), seq + half) }, placed);
    },
  };
}

interface Following {
  readonly signal: AbortSignal;
  take(came: readonly StreamedEvent[], partial: readonly PartialEvent[]): void;
}

/** Begins with the newest, and outlasts every outage. Ends with the conversation. */
async function follow(client: Client, id: string, { signal, take }: Following): Promise<void> {
  const total = await countedEvents(client, id, signal);
  if (total === 0) take([], []);
  let fresh: StreamedEvent[] = [];
  let partial: PartialEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  const flush = (): void => {
    timer = null;
    const [came, said] = [fresh, partial];
    [fresh, partial] = [[], []];
    if (!signal.aborted) take(came, said);
  };
  const soon = (): void => void (timer ??= setTimeout(flush, TOGETHER_MS));
  const events = client.events(id, {
    afterSeq: Math.max(0, total - PAGE_EVENTS),
    signal,
    onConnected: reportAnswer,
    onBroken: reportProblem,
    onPartial(one) {
      partial.push(one);
      soon();
    },
  });
  for await (const event of events) {
    fresh.push(event);
    soon();
  }
  flush();
}

/** A page that is loaded while the service goes away waits for it, as the stream does. */
async function countedEvents(client: Client, id: string, signal: AbortSignal): Promise<number> {
  for (;;) {
    try {
      return await client.countEvents({ params: { conversation_id: id } }, { signal });
    } catch (error) {
      if (signal.aborted || !isUnreachable(error)) throw error;
      reportProblem(error);
      await wait(LIVE_MS, signal);
    }
  }
}
