/**
 * Text that may be JSON, from outside.
 * Owns the answer where it is none; the shape of what it holds is for a schema to say.
 */

/** Undefined when it is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
