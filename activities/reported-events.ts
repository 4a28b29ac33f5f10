/**
 * The log of events, which hears from an agent that its model cannot be reached, and that it can be again (D32).
 * Owns how that event is read; what comes out of a sandbox is data, and what is not as expected is no trouble.
 */
import type { ConversationId } from '../core/ids.ts';
import type { EventLog } from '../ports/record-store.ts';
import type { Troubles } from '../ports/troubles.ts';

/** Key of the state update; `agent/model/llm-client.ts` writes it. */
const KEY = 'model_trouble';
const CAUSE_CHARS_MAX = 500;
/** Conversations whose last word is remembered, so that a second reading of it writes nothing. */
const REMEMBERED_MAX = 10_000;

type Event = Parameters<EventLog['append']>[1][number];

export function reportedEvents(events: EventLog, troubles: Troubles): EventLog {
  const heard = new Map<ConversationId, string>();
  return {
    events: (id, page) => events.events(id, page),
    count: (id) => events.count(id),
    lastReceivedAt: (id) => events.lastReceivedAt(id),
    async append(id, arrived, receivedAt) {
      const added = await events.append(id, arrived, receivedAt);
      const last = arrived.findLast(isTrouble);
      if (last === undefined || heard.get(id) === last.id) return added;
      // A store that does not answer is reported elsewhere; the transcript is what counts here.
      await report(troubles, id, last).catch(() => undefined);
      heard.delete(id);
      heard.set(id, last.id);
      const [oldest] = heard.keys();
      if (oldest !== undefined && heard.size > REMEMBERED_MAX) heard.delete(oldest);
      return added;
    },
  };
}

function isTrouble(event: Event): boolean {
  return event.kind === 'ConversationStateUpdateEvent' && event['key'] === KEY;
}

async function report(troubles: Troubles, id: ConversationId, event: Event): Promise<void> {
  // The zone is left out by agents; an instant that is none is no word of one.
  const at = Date.parse(
    /(Z|[+-]\d\d:?\d\d)$/.test(event.timestamp) ? event.timestamp : `${event.timestamp}Z`,
  );
  if (!Number.isFinite(at)) return;
  const key = { about: { machine: 'conversation', id } as const, item: null, what: 'model' };
  const value = event['value'];
  if (value === null) return await troubles.over(key, at);
  const { cause, tries, wait_ms: waitMs } = Object(value) as Record<string, unknown>;
  if (typeof cause !== 'string' || !isCount(tries) || !isCount(waitMs)) return;
  await troubles.failed({
    ...key,
    cause: cause.slice(0, CAUSE_CHARS_MAX),
    tries,
    nextAt: at + waitMs,
    at,
  });
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
