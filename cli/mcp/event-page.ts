/**
 * A page of events that is bounded in number and in bytes, whatever an agent has written.
 * Owns the bound; a page goes on where the one before it ended.
 */
import type { Client } from '../../api/client/client.ts';

export interface EventQuery {
  /** Events behind this number. */
  readonly after: number;
  readonly limit: number;
  readonly bytesMax: number;
  /** Null: all. */
  readonly kinds: readonly string[] | null;
  readonly signal: AbortSignal;
}

type EventBody = { readonly kind: string; readonly [field: string]: unknown };

export interface EventPage {
  readonly events: { number: number; event: { kind: string; [field: string]: unknown } }[];
  readonly next: number;
  readonly more: boolean;
  readonly shortened: number[];
}

/** Looked at for kinds that are asked for; whoever wants more goes on behind them. */
const LOOKED_MAX = 5_000;

export async function readEvents(client: Client, id: string, wish: EventQuery): Promise<EventPage> {
  const { after, limit, bytesMax, kinds, signal } = wish;
  const page: EventPage = { events: [], next: after, more: false, shortened: [] };
  const count = await client.countEvents({ params: { conversation_id: id } }, { signal });
  if (after >= count) return page;
  const over = new AbortController();
  const stream = client.events(id, { afterSeq: after, signal: AbortSignal.any([signal, over.signal]) });
  const found: { next: number; bytes: number } = { next: after, bytes: 0 };
  try {
    for await (const { seq, event } of stream) {
      if (kinds === null || kinds.includes(event.kind)) {
        const size = bytesOf(event);
        const isFirst = page.events.length === 0;
        if (!isFirst && found.bytes + size > bytesMax) break;
        const shown = size > bytesMax ? shortened(event, bytesMax) : event;
        if (shown !== event) page.shortened.push(seq);
        page.events.push({ number: seq, event: shown });
        found.bytes += Math.min(size, bytesMax);
      }
      found.next = seq;
      if (seq >= count || page.events.length >= limit || seq - after >= LOOKED_MAX) break;
    }
  } finally {
    over.abort();
  }
  return { ...page, next: found.next, more: found.next < count };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Texts are halved until the whole fits; one that still does not is told by its kind alone. */
function shortened(event: EventBody, bytesMax: number): EventBody {
  for (let charsMax = bytesMax; charsMax >= 64; charsMax = Math.floor(charsMax / 2)) {
    const cut = cutTexts(event, charsMax) as EventBody;
    if (bytesOf(cut) <= bytesMax) return cut;
  }
  const { id, timestamp, kind } = event;
  return { id, timestamp, kind };
}

function cutTexts(value: unknown, charsMax: number): unknown {
  if (typeof value === 'string')
    return value.length <= charsMax
      ? value
      : `${value.slice(0, charsMax)}… (${value.length - charsMax} characters more)`;
  if (Array.isArray(value)) return value.map((one) => cutTexts(one, charsMax));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, cutTexts(field, charsMax)]));
}
