/**
 * Reading of JSON of unknown shape.
 * Owns narrow, total accessors; must not throw.
 */

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object; null for anything else, arrays included. */
export function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** The value as a text that is not empty, else null. */
export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
