/**
 * Whom an expression is about: the conversations and sandboxes that it names.
 * Owns the search for names in its text and among its operands; an expression that names nobody is about whoever moved last.
 */
import type { EntityAddress } from '../../core/ids.ts';
import type { PartValue } from '../../dsl/expression/expression.ts';
import type { ConversationSeen, Observation } from '../../dsl/expression/observation.ts';

const QUOTED = /'([^'\\]*)'|"([^"\\]*)"/g;

export interface Expressed {
  readonly source: string;
  /** Its operands: where a list of conversations or sandboxes is among them, its first member is named too. */
  readonly values: readonly PartValue[];
}

export function concernedBy(
  { source, values }: Expressed,
  seen: Observation,
  latest: EntityAddress | null,
): EntityAddress[] {
  const quoted = [...source.matchAll(QUOTED)].map(([, single, double]) => single ?? double ?? '');
  const names = new Set([...quoted, ...values.flatMap(({ value }) => firstName(value))]);
  const convs = seen.convs.filter(({ key, id }) => names.has(key) || (id !== '' && names.has(id)));
  const sandboxes = seen.sandboxes.filter(({ id }) => names.has(id));
  const named = [...convs.flatMap(addressesOf), ...sandboxes.map(({ id }) => sandboxAddress(id))];
  if (named.length > 0) return named;
  return latest === null ? [] : [latest];
}

function firstName(value: unknown): string[] {
  const first: unknown = Array.isArray(value) ? value[0] : null;
  if (typeof first !== 'object' || first === null) return [];
  const { key, id } = first as { readonly key?: unknown; readonly id?: unknown };
  const name = key ?? id;
  return typeof name === 'string' ? [name] : [];
}

function addressesOf({ id, sandbox }: ConversationSeen): EntityAddress[] {
  const conversation: EntityAddress[] = id === '' ? [] : [{ machine: 'conversation', id }];
  return sandbox === '' ? conversation : [...conversation, sandboxAddress(sandbox)];
}

function sandboxAddress(id: string): EntityAddress {
  return { machine: 'sandbox', id };
}
