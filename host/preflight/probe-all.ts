/**
 * Many checks of things outside, a few at a time.
 * Owns how many at once and how long each may take; must not know what is checked.
 */

/** Enough that a list of repositories takes seconds, and few enough that no host counts it as an attack. */
const AT_ONCE_MAX = 16;
/** A host that needs longer for a list is in trouble. */
const ANSWER_MS_MAX = 10_000;
/** A person waits for it. */
const TOTAL_MS_MAX = 30_000;

export interface Probes {
  /** Answers in the order of the things. A check never rejects for what it finds out. */
  all<Thing, Answer>(
    things: readonly Thing[],
    look: (thing: Thing, signal: AbortSignal) => Promise<Answer>,
  ): Promise<readonly Answer[]>;
}

/** The time of all checks together begins now. */
export function createProbes(): Probes {
  const total = AbortSignal.timeout(TOTAL_MS_MAX);
  return {
    async all(things, look) {
      const answers = new Map<number, Awaited<ReturnType<typeof look>>>();
      const waiting = things.entries();
      const worker = async (): Promise<void> => {
        for (const [index, thing] of waiting) {
          const signal = AbortSignal.any([total, AbortSignal.timeout(ANSWER_MS_MAX)]);
          answers.set(index, await look(thing, signal));
        }
      };
      await Promise.all(Array.from({ length: Math.min(AT_ONCE_MAX, things.length) }, worker));
      return things.map((_, index) => answers.get(index) as Awaited<ReturnType<typeof look>>);
    },
  };
}
