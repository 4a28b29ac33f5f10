/**
 * Whether a request says twice who is calling. Servers take the first of two such headers, or join them: what a proxy in
 * front has judged would be another than what is taken here, so two are refused wherever a key is read.
 * Owns the counting and the sentence; what a refusal looks like is each server's.
 */

/** The first of `names`, in lower case, that stands more than once in the raw headers (name, value, name, …); else null. */
export function repeatedHeader(rawHeaders: readonly string[], names: readonly string[]): string | null {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!names.includes(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return null;
}

/** `spelled` as people write the header's name. */
export function severalHeaders(spelled: string): string {
  return `Cannot tell who is calling: send one ${spelled} header, not several`;
}
