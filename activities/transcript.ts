/**
 * Bringing an agent's events into our log.
 * Owns the full re-read that makes lost callbacks harmless; the log itself skips what it knows. How much an agent says
 * is decided in its sandbox, so a reading has bounds, and ends when its pages bring nothing new (D31).
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
export async function syncTranscript(
  world: World,
  target: AgentTarget,
  conversationId: ConversationId,
): Promise<TranscriptReading> {
  let [added, bytes] = [0, 0];
  let pageId: string | null = null;
  const seen = new Set<string>();
  try {
    do {
      const page: AgentEventPage = await world.agent.events(target, conversationId, pageId);
      bytes += page.bytes ?? 0;
      added += await appendEvents(world, conversationId, page.items);
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
 * @throws ParleyError transcript_full, which is told once
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

/** Conversations whose full transcript this process has told; forgotten ones are told once more. */
const TOLD_MAX = 1_000;
const told = new WeakMap<World['lifecycle'], Set<ConversationId>>();

async function reportFull(world: World, conversationId: ConversationId, detail: string): Promise<void> {
  const known = told.get(world.lifecycle) ?? new Set();
  told.set(world.lifecycle, known);
  if (known.has(conversationId)) return;
  if (known.size >= TOLD_MAX) known.clear();
  known.add(conversationId);
  const about = { machine: 'conversation', id: conversationId } as const;
  await world.lifecycle.record({ about, conversationId, code: 'transcript_full', detail }, world.clock.now());
}
