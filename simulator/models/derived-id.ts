/**
 * Ids made of names: the same name gives the same id in every run and on every driver.
 * Owns the derivation; it only has to spread, nobody defends against a forged name here.
 */
import {
  conversationId,
  sandboxId,
  type ConversationId,
  type RunId,
  type SandboxId,
} from '../../core/ids.ts';

const LANES: readonly number[] = [0x811c9dc5, 0x01234567, 0x89abcdef, 0x2545f491];

function hexOf(name: string): string {
  return LANES.map((lane) => {
    let hash = lane;
    for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    return ((hash ^ (hash >>> 13)) >>> 0).toString(16).padStart(8, '0');
  }).join('');
}

export function conversationIdOf(run: RunId, key: string, attempt: number): ConversationId {
  return conversationId(hexOf(`conversation/${run}/${key}/${attempt}`));
}

/** The sandbox that placement would make for a conversation; `tries` tells one placement from the next. */
export function sandboxIdOf(id: ConversationId, tries: number): SandboxId {
  return sandboxId(hexOf(`sandbox/${id}/${tries}`));
}

export function conversationIdNamed(name: string): ConversationId {
  return conversationId(hexOf(`named/${name}`));
}

export function sandboxIdNamed(name: string): SandboxId {
  return sandboxId(hexOf(`named sandbox/${name}`));
}
