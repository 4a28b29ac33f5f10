/**
 * Removing secret values from what Parley stores, and finding them in what it collects (D20).
 * Owns the forms in which a value is searched: raw, base64, base64url, URL-encoded and JSON-escaped.
 */
import type { ConversationId } from '../core/ids.ts';
import type { AgentEvent } from '../ports/agent-server.ts';
import type { World } from './world.ts';

/** Shorter values would blank out ordinary text; they are not worth a secret either. */
const VALUE_LENGTH_MIN = 4;
/** In place of a value. */
export const HIDDEN = '<secret-hidden>';

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
  world: Pick<World, 'vault'>,
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

/** Shorter lines of a value with several are brackets and words that occur in any text. */
const LINE_LENGTH_MIN = 8;
/** A long line without spaces occurs in this value only: key material, a token. */
const KEY_LINE = /^\S{16,}$/;
/** The armour of a key reveals nothing of the key. */
const ARMOUR = /^-----(?:BEGIN|END) [A-Z0-9 ]+-----$/;
/** The largest secret has as many lines of a key. */
const LINES_MAX = 1_024;

/** Lines of a value that has several, each of which reveals a part of it. Trimmed, as programs print them indented. */
function linesOf(value: string): readonly string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  if (lines.filter((line) => line !== '').length < 2) return [];
  return lines.filter((line) => line.length >= LINE_LENGTH_MIN && !ARMOUR.test(line)).slice(0, LINES_MAX);
}

/** The texts to hide: every form of every value, and each line of values that have several. */
export function hiddenForms(values: Iterable<string>): readonly string[] {
  const all = [...values];
  const lines = all.flatMap(linesOf).flatMap((line) => [line, JSON.stringify(line).slice(1, -1)]);
  return longestFirst([...secretForms(all), ...lines]);
}

/** Texts that prove a value is present: its forms, and its unique lines. A message or file with one is refused. */
export function secretForms(values: Iterable<string>): readonly string[] {
  const forms = new Set<string>();
  for (const value of values) {
    if (value.length < VALUE_LENGTH_MIN) continue;
    for (const line of linesOf(value)) if (KEY_LINE.test(line)) forms.add(line);
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
  return longestFirst(forms);
}

/** So that no part of a longer one stays behind. */
function longestFirst(forms: Iterable<string>): readonly string[] {
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/** Masks every form of every secret in a text. */
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
  const forms = hiddenForms(Object.values(await openSecrets(world, conversationId)));
  if (forms.length === 0) return events;
  return events.map((event) => redactValue(event, forms) as AgentEvent);
}

/** Each string alone, not serialised JSON: a value may look like its syntax, and nested JSON has its own escapes. */
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
