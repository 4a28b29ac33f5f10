/**
 * Headers from the text that an administrator typed.
 * Owns the reading; what a header may be is checked by the service.
 */

/** @throws Error with a sentence for a person */
export function parsedHeaders(text: string): Record<string, string> {
  const value = jsonOf(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('The headers must be a JSON object of names and texts, such as {"x-route": "blue"}');
  const wrong = Object.entries(value).find(([, one]) => typeof one !== 'string');
  if (wrong !== undefined) throw new Error(`The header "${wrong[0]}" must be a text`);
  return value as Record<string, string>;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('The headers cannot be read: they are no JSON');
  }
}
