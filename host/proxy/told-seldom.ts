/**
 * What is said because of something in a sandbox, said so seldom that nobody can fill a screen, a log or the memory with
 * it (D31).
 * Owns how often: a text once in ten minutes, and of all texts a few a minute; what was left out is counted and said.
 */

/** The same text again within this is nothing new. */
const REPEAT_MS = 10 * 60_000;
/** Different texts, which a sandbox makes up at will: a first burst, then as many as a person reads. */
const BURST = 20;
const REFILL_MS = 6_000;
/** Texts remembered, so that a repeat is known. */
const REMEMBERED_MAX = 256;

export function toldSeldom(clock: { now(): number }, tell: (text: string) => void): (text: string) => void {
  // Insertion order is order of time.
  const told = new Map<string, number>();
  let [tokens, refilledAt, leftOut] = [BURST, clock.now(), 0];
  return (text) => {
    const now = clock.now();
    const refilled = Math.floor(Math.max(0, now - refilledAt) / REFILL_MS);
    if (refilled > 0 || now < refilledAt) {
      tokens = Math.min(BURST, tokens + refilled);
      refilledAt = now;
    }
    const last = told.get(text);
    if (last !== undefined && now >= last && now - last < REPEAT_MS) return;
    if (tokens === 0) {
      leftOut += 1;
      return;
    }
    tokens -= 1;
    told.delete(text);
    told.set(text, now);
    const [oldest] = told.keys();
    if (oldest !== undefined && told.size > REMEMBERED_MAX) told.delete(oldest);
    tell(leftOut === 0 ? text : `${text} (${leftOut} other notices were left out)`);
    leftOut = 0;
  };
}
