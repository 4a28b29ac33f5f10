/**
 * Keys of incarnations: derived, never stored.
 * Owns the interface; the same arguments always give the same key, so that a repeated command is harmless.
 */
import type { ConversationId, SandboxId } from '../core/ids.ts';

export interface KeyMinter {
  /** Key that the Agent Server of this incarnation accepts, and that its callbacks carry (D5, D14). */
  sessionKey(sandboxId: SandboxId, generation: number): string;
  /** Virtual proxy key of one conversation in one incarnation; never the gateway's (D19). */
  proxyKey(conversationId: ConversationId, generation: number): string;
  /** The conversation that a virtual proxy key names; null when it was not made here. The generation is not checked. */
  proxyKeyOwner(key: string): { readonly conversationId: ConversationId; readonly generation: number } | null;
  /** Id of the conversation for one attempt of one item: the same for a repeated command. */
  conversationIdOf(attempt: {
    readonly runId: string;
    readonly key: string;
    readonly attempt: number;
  }): ConversationId;
  /** Id of the sandbox that placement would make for a conversation. */
  sandboxIdOf(conversationId: ConversationId, placement: number): SandboxId;
  /** A UUID made from a text: the same for the same text. */
  uuidOf(text: string): string;
  /** Distinguishes requests; reveals no content without the seal key, because one may hold secrets (D20). */
  requestMark(text: string): string;
  sha256(content: string | Uint8Array): string;
}
