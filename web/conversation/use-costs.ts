/**
 * What each answer of a model has cost, by the answer's id.
 * Owns the polling: each call is read once it has ended, and again only where it has not.
 */
import { useCallback, useRef } from 'react';
import type { Client } from '../../api/client/client.ts';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';

const EVERY_MS = 4_000;
/** Pages of one poll: more calls than that are read over several polls. */
const PAGES_MAX = 10;

interface Known {
  readonly nanoUsdOf: Map<string, number>;
  /** The next poll begins at this start; null for the first. */
  from: string | null;
}

/** `since` is the instant of the first event that is shown; null while there is none. */
export function useCosts(conversationId: string, since: string | null): ReadonlyMap<string, number> {
  const { client } = useSession();
  const known = useRef<Known>({ nanoUsdOf: new Map(), from: null });
  const begins = useRef<string | null>(null);
  if (since !== null && (begins.current === null || since < begins.current)) {
    // The user has gone further back.
    begins.current = since;
    known.current.from = since;
  }
  const isWanted = since !== null;
  const ask = useCallback(
    async (signal: AbortSignal) => {
      if (isWanted) await readCalls(client, conversationId, known.current, signal);
      return new Map(known.current.nanoUsdOf);
    },
    [client, conversationId, isWanted],
  );
  return usePolled(ask, EVERY_MS).value ?? NONE;
}

const NONE: ReadonlyMap<string, number> = new Map();

async function readCalls(client: Client, id: string, known: Known, signal: AbortSignal): Promise<void> {
  const { from } = known;
  let pageId: string | null = null;
  let next = from;
  let isOpen = false;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = {
      ...(from === null ? {} : { started_at__gte: from }),
      ...(pageId === null ? {} : { page_id: pageId }),
    };
    const found = await client.searchConversationCalls(
      { params: { conversation_id: id }, query },
      { signal },
    );
    for (const call of found.items) {
      isOpen ||= call.state === 'open';
      if (!isOpen) next = call.started_at;
      if (call.response_id !== null && call.cost_nano_usd !== null)
        known.nanoUsdOf.set(call.response_id, call.cost_nano_usd);
    }
    pageId = found.next_page_id;
    if (pageId === null) break;
  }
  if (known.from === from) known.from = next;
}
