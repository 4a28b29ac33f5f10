/**
 * Removing secret values from what Parley stores, and finding them in what it collects (D20).
 * Owns the forms a value is looked for in: raw, base64, base64url, URL-encoded and JSON-escaped.
 */
import type { ConversationId } from '../core/ids.ts';
import type { AgentEvent } from '../ports/agent-server.ts';
import type { World } from './world.ts';

/** Shorter values would blank out ordinary text; they are not worth a secret either. */
const VALUE_LENGTH_MIN = 4;
const HIDDEN = '<secret-hidden>';

/** Scope of a conversation's secrets in the vault. */
export function secretScope(conversationId: ConversationId): string {
  return `conversation/${conversationId}`;
}

/** Scope of the credential for a conversation's repository: never given to its agent (D19). */
export function repositoryScope(conversationId: ConversationId): string {
  return `repository/${conversationId}`;
}

/** Environment name → value, opened for the shortest time. */
export async function openSecrets(
  world: World,
  conversationId: ConversationId,
): Promise<Readonly<Record<string, string>>> {
  const scope = secretScope(conversationId);
  const opened: Record<string, string> = {};
  for (const name of await world.vault.names(scope)) {
    const value = await world.vault.get(scope, name);
    if (value !== null) opened[name] = value;
  }
  return opened;
}

/** Every form of every value, longest first so that no part of a longer one stays behind. */
export function secretForms(values: Iterable<string>): readonly string[] {
  const forms = new Set<string>();
  for (const value of values) {
    if (value.length < VALUE_LENGTH_MIN) continue;
    const base64 = Buffer.from(value, 'utf8').toString('base64');
    const escaped = JSON.stringify(value).slice(1, -1);
    for (const form of [
      value,
      base64,
      base64.replace(/=+$/, ''),
      Buffer.from(value).toString('base64url'),
      encodeURIComponent(value),
      escaped,
    ]) {
      forms.add(form);
    }
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

export function redactText(text: string, forms: readonly string[]): string {
  let clean = text;
  for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, HIDDEN);
  return clean;
}

export async function redactEvents(
  world: World,
  conversationId: ConversationId,
  events: readonly AgentEvent[],
): Promise<readonly AgentEvent[]> {
  const forms = secretForms(Object.values(await openSecrets(world, conversationId)));
  if (forms.length === 0) return events;
  return events.map((event) => redactValue(event, forms) as AgentEvent);
}

/** Text by text, never the JSON around it: a value may look like its syntax, and JSON inside a text has escapes of its own. */
function redactValue(value: unknown, forms: readonly string[]): unknown {
  if (typeof value === 'string') return redactText(value, forms);
  if (typeof value === 'number') return forms.includes(String(value)) ? HIDDEN : value;
  if (Array.isArray(value)) return value.map((entry) => redactValue(entry, forms));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [
    redactText(name, forms),
    redactValue(field, forms),
  ]);
  return Object.fromEntries(fields);
}

/** True when any form of any value occurs in the bytes. */
export function containsSecret(content: Uint8Array, forms: readonly string[]): boolean {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  return forms.some((form) => bytes.includes(form));
}
