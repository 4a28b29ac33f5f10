/**
 * Ids made of names: the same name gives the same id in every run and on every driver.
 * Owns the derivation; it only has to spread, and need not resist a forged name.
 */
import {
  conversationId,
  sandboxId,
  type ConversationId,
  type RunId,
  type SandboxId,
} from '../../core/ids.ts';

/** Two hex digits for each byte. */
const BYTES: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Four lanes over one reading of the name, 32 hex digits. */
function hexOf(name: string): string {
  let first = 0x811c9dc5;
  let second = 0x01234567;
  let third = 0x89abcdef;
  let fourth = 0x2545f491;
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second ^ code, 0x01000193);
    third = Math.imul(third ^ code, 0x01000193);
    fourth = Math.imul(fourth ^ code, 0x01000193);
  }
  return laneOf(first) + laneOf(second) + laneOf(third) + laneOf(fourth);
}

function laneOf(hash: number): string {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  const bits = mixed ^ (mixed >>> 13);
  return byteOf(bits >>> 24) + byteOf(bits >>> 16) + byteOf(bits >>> 8) + byteOf(bits);
}

function byteOf(bits: number): string {
  return BYTES[bits & 0xff] as string;
}

export function conversationIdOf(run: RunId, key: string, attempt: number): ConversationId {
  return conversationId(hexOf(`conversation/${run}/${key}/${attempt}`));
}

/** The sandbox that placement would make for a conversation; `tries` distinguishes one placement from the next. */
export function sandboxIdOf(id: ConversationId, tries: number): SandboxId {
  return sandboxId(hexOf(`sandbox/${id}/${tries}`));
}

/** The id of the conversation to which a script gives that name. */
export function conversationIdNamed(name: string): ConversationId {
  return conversationId(hexOf(`named/${name}`));
}

export function sandboxIdNamed(name: string): SandboxId {
  return sandboxId(hexOf(`named sandbox/${name}`));
}
