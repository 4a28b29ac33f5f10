/**
 * Who may call the proxy from inside a sandbox: the holders of virtual keys made for conversations.
 * Owns the fencing: a key of an earlier incarnation, or of a sandbox that is over, opens nothing (D14, D19).
 */
import type { KeyDirectory, ProxyCaller } from '../../ports/key-directory.ts';
import type { KeyMinter } from '../../ports/key-minter.ts';
import type { RecordStore } from '../../ports/record-store.ts';
import { conversationKeyName } from './run-budgets.ts';

export function conversationKeys(keys: KeyMinter, records: RecordStore): KeyDirectory {
  return { find: (key) => findCaller(keys, records, key) };
}

async function findCaller(keys: KeyMinter, records: RecordStore, key: string): Promise<ProxyCaller | null> {
  const owner = keys.proxyKeyOwner(key);
  if (owner === null) return null;
  const conversation = await records.conversation(owner.conversationId);
  if (conversation?.sandboxId == null) return null;
  const sandbox = await records.sandbox(conversation.sandboxId);
  if (sandbox === null || sandbox.generation !== owner.generation) return null;
  if (sandbox.status === 'ERROR' || sandbox.status === 'MISSING') return null;
  return {
    name: conversationKeyName(owner.conversationId),
    sessionId: owner.conversationId,
    userId: conversation.userId,
    models: conversation.model === null ? null : [conversation.model],
  };
}
