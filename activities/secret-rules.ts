/**
 * Which secrets a start may bring (D20).
 * Owns the checks of names, number, size, and of a message that holds a value; must not store anything.
 */
import {
  SECRET_BYTES_MAX,
  SECRET_NAME_PATTERN,
  SECRET_PREFIXES_RESERVED,
  SECRETS_MAX,
} from '../core/limits.ts';
import { ParleyError } from '../core/parley-error.ts';
import { secretForms } from './redaction.ts';

/** Variables that the sandbox and the agent set themselves. */
const RESERVED_NAME = new RegExp(`^(${SECRET_PREFIXES_RESERVED.join('|')})`, 'i');

export function isPermittedName(name: string): boolean {
  return SECRET_NAME_PATTERN.test(name) && !RESERVED_NAME.test(name);
}

/** @throws ParleyError secret_reserved, invalid_request; errors contain names, never values */
export function requirePermitted(secrets: Readonly<Record<string, string>>): void {
  const names = Object.keys(secrets);
  if (names.length > SECRETS_MAX)
    throw new ParleyError(
      'invalid_request',
      `Cannot take the secrets: ${names.length}, at most ${SECRETS_MAX}`,
    );
  for (const [name, value] of Object.entries(secrets)) {
    if (!isPermittedName(name))
      throw new ParleyError(
        'secret_reserved',
        `Cannot take the secret "${name}": its name is reserved or not permitted`,
      );
    if (Buffer.byteLength(value) > SECRET_BYTES_MAX)
      throw new ParleyError(
        'invalid_request',
        `Cannot take the secret "${name}": it is larger than ${SECRET_BYTES_MAX} bytes`,
      );
  }
}

/** @throws ParleyError secret_in_message */
export function requireNotIn(text: string, values: Iterable<string>): void {
  if (!secretForms(values).some((form) => text.includes(form))) return;
  throw new ParleyError('secret_in_message', 'Cannot start: the message contains the value of a secret');
}
