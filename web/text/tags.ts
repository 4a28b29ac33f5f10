/**
 * Tags as a person writes them: one a line, `key=value`.
 * Owns the reading; what a key may be is checked by the API.
 */
export function tagsOf(tags: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(tags).map(([key, value]) => `${key}=${value}`);
}

export function tagsText(tags: Readonly<Record<string, string>>): string {
  return tagsOf(tags).join('\n');
}

/** A line without a sign of equality is a tag without a value. */
export function parsedTags(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      return at === -1 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
