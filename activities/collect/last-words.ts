/**
 * The last message of an agent, from its stored events.
 * Owns which events are words of an agent; redaction was done when they were stored (D20).
 */
import type { ConversationId } from '../../core/ids.ts';
import type { World } from '../world.ts';

/** The last message is near the end; an agent that did this many things after it said nothing about them. */
const EVENTS_READ = 200;
/** It is mostly among the newest events, and a report reads thousands of conversations. */
const NEWEST_READ = 12;

/** Null when it said nothing that is kept. */
export async function lastWords(
  world: Pick<World, 'events'>,
  conversationId: ConversationId,
): Promise<string | null> {
  const count = await world.events.count(conversationId);
  const newest = await wordsAmong(world, conversationId, { count, read: NEWEST_READ });
  if (newest !== null || count <= NEWEST_READ) return newest;
  return await wordsAmong(world, conversationId, { count, read: EVENTS_READ });
}

/** Of the last `read` events of `count`. */
async function wordsAmong(
  world: Pick<World, 'events'>,
  conversationId: ConversationId,
  { count, read }: { readonly count: number; readonly read: number },
): Promise<string | null> {
  const page = { afterSequence: Math.max(0, count - read), limit: read };
  const events = await world.events.events(conversationId, page);
  for (const { kind, body } of [...events].reverse()) {
    const words = body['source'] === 'agent' ? wordsOf(kind, body) : '';
    if (words !== '') return words;
  }
  return null;
}

function wordsOf(kind: string, body: Readonly<Record<string, unknown>>): string {
  if (kind === 'MessageEvent') return textOf(fieldOf(body['llm_message'], 'content'));
  // An agent that finishes calls a tool with its last message.
  if (kind === 'ActionEvent' && body['tool_name'] === 'finish')
    return textOf(fieldOf(body['action'], 'message'));
  return '';
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content.trim();
  if (!Array.isArray(content)) return '';
  return content
    .map((block: unknown) => fieldOf(block, 'text'))
    .filter((text) => typeof text === 'string')
    .join('\n')
    .trim();
}
