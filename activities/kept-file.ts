/**
 * What this program keeps as JSON beside results, read back.
 * Owns the answer to a file that is missing or was written by somebody else: there is none.
 */
import type { z } from 'zod';

/** Null for no file, for what is no JSON, and for JSON of another shape. */
export function parseKept<Schema extends z.ZodType>(
  schema: Schema,
  bytes: Uint8Array | null,
): z.infer<Schema> | null {
  if (bytes === null) return null;
  try {
    return schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return null;
  }
}
