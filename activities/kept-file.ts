/**
 * Reads the JSON files that Parley keeps beside results.
 * Owns the answer for a file that is missing or was not written by Parley: null.
 */
import type { z } from 'zod';

/** Null for a missing file, for text that is not JSON, and for JSON of another shape. */
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
