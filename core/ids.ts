/**
 * Identifiers and entity addresses.
 * Owns their shapes and normal forms; must not create them (ids arrive in events, from the edge).
 */

/** A conversation's id: 32 lower-case hex digits (D3). */
export type ConversationId = string & { readonly __conversation: unique symbol };
/** A sandbox's id: 32 lower-case hex digits (D3). */
export type SandboxId = string & { readonly __sandbox: unique symbol };
/** A batch run's id: readable, `[a-z0-9-]{1,64}`. */
export type RunId = string & { readonly __run: unique symbol };
/** A user's id, at most 128 characters. */
export type UserId = string & { readonly __user: unique symbol };

/** From any form of a UUID. */
export const conversationId = (text: string): ConversationId => normalUuid(text) as ConversationId;

/** From any form of a UUID. */
export const sandboxId = (text: string): SandboxId => normalUuid(text) as SandboxId;

/** Of a text that is one. */
export const runId = (text: string): RunId => text as RunId;

/** Of a text that is one. */
export const userId = (text: string): UserId => text as UserId;

/** Both UUID forms come in everywhere; joins compare this one: lower case, no hyphens (D3). */
export function normalUuid(text: string): string {
  return text.replaceAll('-', '').toLowerCase();
}

/** The hyphenated form the Agent API speaks (D3). Text that is not 32 hex digits is returned unchanged. */
export function hyphenatedUuid(text: string): string {
  const hex = normalUuid(text);
  if (!/^[0-9a-f]{32}$/.test(hex)) return text;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export type MachineName = 'sandbox' | 'conversation' | 'run' | 'shard';

/** Where an event is delivered: one entity, hosted by one machine. */
export interface EntityAddress {
  readonly machine: MachineName;
  readonly id: string;
}

/** The address as one string, used as a key in stores and traces. */
export function addressKey(address: EntityAddress): string {
  return `${address.machine}/${address.id}`;
}

/** The address that a key names. */
export function addressFromKey(key: string): EntityAddress {
  const slash = key.indexOf('/');
  return { machine: key.slice(0, slash) as MachineName, id: key.slice(slash + 1) };
}

/** Whose order a command is: its id is `<machine>/<entity>#<count>`. */
export function addressOfCommand(commandId: string): EntityAddress {
  const hash = commandId.lastIndexOf('#');
  return addressFromKey(hash < 0 ? commandId : commandId.slice(0, hash));
}
