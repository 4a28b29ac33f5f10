/**
 * Names of secrets as documents of the API tell them (D20).
 * Owns the spelling of the rule; it is checked, and answered with a code of its own, where secrets are taken.
 */
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';
import { SECRET_NAME_PATTERN, SECRET_PREFIXES_RESERVED } from '../../core/limits.ts';

const NAME_CHARS_MAX = 256;

/** Prefixes count in either case, and a pattern of JSON Schema has no flag for that. */
const RESERVED = SECRET_PREFIXES_RESERVED.map((prefix) =>
  prefix.replaceAll(/[A-Z]/g, (one) => `[${one}${one.toLowerCase()}]`),
).join('|');

/** A name in an address, where it would be taken for an operation. */
const ADDRESS = 'search';

/** @throws ParleyError secret_reserved */
export function requireNoAddress(name: string): void {
  if (name !== ADDRESS) return;
  throw new ParleyError(
    'secret_reserved',
    `Cannot take the secret "${name}": its name is an address of the API`,
  );
}

export const secretNameIn = z
  .string()
  .min(1)
  .max(NAME_CHARS_MAX)
  .meta({
    pattern: `^(?!${RESERVED}|${ADDRESS}$)${SECRET_NAME_PATTERN.source.slice(1)}`,
    description: 'Letters, digits and underscores; prefixes of the sandbox and the agent are reserved.',
  });
