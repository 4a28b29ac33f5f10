/**
 * Who may call back from a sandbox.
 * Owns the check of session keys: valid for one sandbox and its present generation (D5, D14).
 */
import { timingSafeEqual } from 'node:crypto';
import type { World } from '../activities/world.ts';
import { conversationId as asConversationId, type ConversationId, type SandboxId } from '../core/ids.ts';

export interface Caller {
  readonly conversationId: ConversationId;
  readonly sandboxId: SandboxId;
  readonly generation: number;
}

/** `unknown`: no such conversation, or a tombstone. `refused`: the key is not of its sandbox's present generation. */
export async function callerOf(
  world: Pick<World, 'records' | 'keys'>,
  id: string,
  key: string | undefined,
): Promise<Caller | 'unknown' | 'refused'> {
  const conversationId = asConversationId(id);
  const conversation = await world.records.conversation(conversationId);
  if (conversation?.sandboxId == null) return 'unknown';
  const sandbox = await world.records.sandbox(conversation.sandboxId);
  if (sandbox === null) return 'unknown';
  const { sandboxId, generation } = sandbox;
  const expected = world.keys.sessionKey(sandboxId, generation);
  return key !== undefined && sameText(key, expected) ? { conversationId, sandboxId, generation } : 'refused';
}

/** In constant time for equal lengths; the length of a key is no secret. */
export function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
