/**
 * Bringing an agent's events into our log.
 * Owns the full re-read that makes lost callbacks harmless; the log itself skips what it knows.
 */
import type { ConversationId } from '../core/ids.ts';
import type { AgentEvent, AgentTarget } from '../ports/agent-server.ts';
import { redactEvents } from './redaction.ts';
import type { World } from './world.ts';

/** Reads every page; safe to repeat. Returns how many events were new. */
export async function syncTranscript(
  world: World,
  target: AgentTarget,
  conversationId: ConversationId,
): Promise<number> {
  let added = 0;
  let pageId: string | null = null;
  do {
    const page: { readonly items: readonly AgentEvent[]; readonly nextPageId: string | null } =
      await world.agent.events(target, conversationId, pageId);
    added += await appendEvents(world, conversationId, page.items);
    pageId = page.nextPageId;
  } while (pageId !== null);
  return added;
}

/** Stores events as they came, with the values of the conversation's secrets removed (D20). */
export async function appendEvents(
  world: World,
  conversationId: ConversationId,
  events: readonly AgentEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const clean = await redactEvents(world, conversationId, events);
  return world.events.append(conversationId, clean, world.clock.now());
}

/** True for events that count as activity: any but a state update (D9). */
export function isActivity(event: { readonly kind: string }): boolean {
  return event.kind !== 'ConversationStateUpdateEvent';
}
