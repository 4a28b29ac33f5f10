/**
 * Bringing an agent's events into our log.
 * Owns the reading that makes lost callbacks harmless; the log itself skips events it already has. The sandbox decides
 * how much its agent says, so a reading has bounds, and ends when its pages bring nothing new (D31).
 */
import type { ConversationId } from '../core/ids.ts';
import { TRANSCRIPT_READ_BYTES_MAX, TRANSCRIPT_READ_BYTES_PER_SECOND } from '../core/limits.ts';
import { ParleyError } from '../core/parley-error.ts';
import { SECOND_MS } from '../core/time.ts';
import type { AgentEvent, AgentEventPage, AgentTarget } from '../ports/agent-server.ts';
import { redactEvents } from './redaction.ts';
import type { World } from './world.ts';

export interface TranscriptReading {
  /** How many events were new. */
  readonly added: number;
  /** Of all pages as they came. */
  readonly bytes: number;
}

/** Reads every page; safe to repeat. A transcript that is full, or whose pages have no end, is not read further. */
export function syncTranscript(
  world: World,
  target: AgentTarget,
  conversationId: ConversationId,
): Promise<TranscriptReading> {
  return readFrom(null, world, { target, conversationId });
}

/**
 * Continues at the last page that this process read before; without one it reads every page. An agent that no longer
 * knows that page answers with its first. Events that the agent's clock puts before it are left to `syncTranscript`.
 */
export function syncNewest(
  world: World,
  target: AgentTarget,
  conversationId: ConversationId,
): Promise<TranscriptReading> {
  return readFrom(readBefore(world).lastPages.get(conversationId) ?? null, world, { target, conversationId });
}

async function readFrom(
  begin: string | null,
  world: World,
  { target, conversationId }: { readonly target: AgentTarget; readonly conversationId: ConversationId },
): Promise<TranscriptReading> {
  let [added, bytes] = [0, 0];
  let pageId = begin;
  const seen = new Set<string>();
  try {
    do {
      const page: AgentEventPage = await world.agent.events(target, conversationId, pageId);
      bytes += page.bytes ?? 0;
      added += await appendEvents(world, conversationId, page.items);
      if (page.nextPageId === null) rememberPage(world, conversationId, pageId);
      pageId = page.nextPageId;
      const isEndless = !bringsNew(page, seen) || bytes > TRANSCRIPT_READ_BYTES_MAX;
      if (pageId !== null && isEndless) {
        const detail = `Cannot read events of the conversation "${conversationId}": its agent's pages have no end`;
        await reportFull(world, conversationId, detail);
        break;
      }
    } while (pageId !== null);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'transcript_full') throw error;
  }
  return { added, bytes };
}

/** A page of a log has events that no earlier page of this reading had. */
function bringsNew({ items }: AgentEventPage, seen: Set<string>): boolean {
  const before = seen.size;
  for (const { id } of items) seen.add(id);
  return seen.size > before;
}

/** Milliseconds without another reading, after one of so many bytes. */
export function restAfter(bytes: number): number {
  return Math.ceil((bytes / TRANSCRIPT_READ_BYTES_PER_SECOND) * SECOND_MS);
}

/**
 * Stores events as they came, with the values of the conversation's secrets removed (D20). Returns how many were new.
 * @throws ParleyError transcript_full, which is reported once
 */
export async function appendEvents(
  world: World,
  conversationId: ConversationId,
  events: readonly AgentEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const clean = await redactEvents(world, conversationId, events);
  try {
    return await world.events.append(conversationId, clean, world.clock.now());
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'transcript_full')
      await reportFull(world, conversationId, error.message);
    throw error;
  }
}

/** What this process remembers of transcripts that it read; a forgotten one is read, or reported, once more. */
interface ReadBefore {
  /** Whose transcript was reported as full. */
  readonly full: Set<ConversationId>;
  /** Where the last page of a transcript of several pages began. */
  readonly lastPages: Map<ConversationId, string>;
}

const KNOWN_MAX = 10_000;
const readings = new WeakMap<World['lifecycle'], ReadBefore>();

function readBefore({ lifecycle }: World): ReadBefore {
  const known = readings.get(lifecycle) ?? { full: new Set(), lastPages: new Map() };
  readings.set(lifecycle, known);
  return known;
}

function rememberPage(world: World, conversationId: ConversationId, pageId: string | null): void {
  const { lastPages } = readBefore(world);
  lastPages.delete(conversationId);
  if (pageId === null) return;
  const [oldest] = lastPages.keys();
  if (oldest !== undefined && lastPages.size >= KNOWN_MAX) lastPages.delete(oldest);
  lastPages.set(conversationId, pageId);
}

async function reportFull(world: World, conversationId: ConversationId, detail: string): Promise<void> {
  const { full } = readBefore(world);
  if (full.has(conversationId)) return;
  if (full.size >= KNOWN_MAX) full.clear();
  full.add(conversationId);
  const about = { machine: 'conversation', id: conversationId } as const;
  await world.lifecycle.record({ about, conversationId, code: 'transcript_full', detail }, world.clock.now());
}
