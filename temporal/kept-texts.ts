/**
 * Texts of users that are too long for a history: whole in the store, short in the envelope that refers to them. A
 * history takes 2 MB for one payload, and a conversation passes all that waits in it to the next run of its workflow.
 * Owns which texts are kept, where, and that the agent is given the whole of one; must not know how an envelope travels.
 */
import type { Activities } from '../activities/activity.ts';
import { isShortened, withShortTexts } from '../core/text/short-values.ts';
import { utf8Bytes } from '../core/text/shorten.ts';
import type { SecretVault } from '../ports/secret-vault.ts';
import type { AddressedEnvelope } from '../workflows/envelope.ts';

/** A hundred messages can wait in a conversation (QUEUED_MESSAGES_MAX): together they stay below half a payload. */
export const TEXT_BYTES_MAX = 8 * 1024;

type Vault = Pick<SecretVault, 'put' | 'get' | 'removeScope'>;

function messageScope(conversationId: string): string {
  return `message/${conversationId}`;
}

export interface KeptTexts {
  /** The envelope as it may travel: a message that is long is in the store by then, sealed. A repeat keeps it again. */
  short(envelope: AddressedEnvelope): Promise<AddressedEnvelope>;
}

/** Texts of users out of histories: a reference goes in, the text stays in the vault. */
export function keptTexts(vault: Vault): KeptTexts {
  return {
    async short(envelope) {
      const message = messageIn(envelope);
      if (message !== null && utf8Bytes(message.text) > TEXT_BYTES_MAX)
        await vault.put(messageScope(envelope.to.id), message.id, message.text);
      return withShortTexts(envelope, TEXT_BYTES_MAX);
    },
  };
}

function messageIn({ to, event }: AddressedEnvelope): { readonly id: string; readonly text: string } | null {
  if (to.machine !== 'conversation') return null;
  if (event.type === 'messageReceived') return { id: event.messageId, text: event.text };
  const first = event.type === 'started' ? event.spec.initialMessage : null;
  return first === null ? null : { id: first.messageId, text: first.text };
}

/** The same activities: the agent is given the whole of a message; its conversation's removal deletes the text, too. */
export function withWholeTexts(activities: Activities, vault: Vault): Activities {
  const { deliverItem, removeConversation } = activities;
  return {
    ...activities,
    deliverItem: {
      ...deliverItem,
      async run(command, context) {
        const { conversationId, item } = command;
        const isWhole = item.kind !== 'message' || !isShortened(item.text, TEXT_BYTES_MAX);
        if (isWhole) return await deliverItem.run(command, context);
        // Null: the message was as short as this, with a mark of its own.
        const text = (await vault.get(messageScope(conversationId), item.itemId)) ?? item.text;
        return await deliverItem.run({ ...command, item: { ...item, text } }, context);
      },
    },
    removeConversation: {
      ...removeConversation,
      async run(command, context) {
        const answer = await removeConversation.run(command, context);
        await vault.removeScope(messageScope(command.conversationId));
        return answer;
      },
    },
  };
}
