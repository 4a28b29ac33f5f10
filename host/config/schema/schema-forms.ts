/**
 * The forms that keys of `parley.yaml` have: text, a word of several, a count, a reference to a secret, a block of keys.
 * Owns what they have in common; each key is optional, and says what it is.
 */
import { z } from 'zod';

export const TEXT_MAX = 1_024;

/** The one way to name a value that must not stand in a file (D20). */
export const ENVIRONMENT_REFERENCE = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/;

export const text = (description: string) => z.string().min(1).max(TEXT_MAX).meta({ description }).optional();
export const oneOf = <const Words extends readonly [string, ...string[]]>(
  words: Words,
  description: string,
) => z.enum(words).meta({ description }).optional();
export const count = (min: number, max: number, description: string) =>
  z.number().int().min(min).max(max).meta({ description }).optional();
export const fitting = (form: RegExp, description: string) =>
  z.string().regex(form).meta({ description }).optional();
export const secret = (description: string) => fitting(ENVIRONMENT_REFERENCE, description);
export const block = <Shape extends z.ZodRawShape>(description: string, shape: Shape) =>
  z.strictObject(shape).meta({ description }).optional();
/** `what` is the other end. */
export const tlsTo = (what: string) =>
  block(`TLS to ${what}. An empty block trusts the authorities of the system.`, {
    ca: text('Authority of the certificate of the server, a PEM file. The path is relative to this file.'),
    cert: text('Certificate of this client, a PEM file. The path is relative to this file.'),
    key: text('Key of that certificate, a PEM file. The path is relative to this file.'),
    server_name: text(
      'Name in the certificate of the server. It is needed where it is not that of the address.',
    ),
  });
