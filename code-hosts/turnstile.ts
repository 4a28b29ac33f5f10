/**
 * A bound on how much happens at once.
 * Owns counting and the queue; must not know what passes.
 */

export interface Turnstile {
  /** Resolves when it is the caller's turn, with what ends the turn; null when too many wait already. */
  enter(): Promise<(() => void) | null>;
}

export function createTurnstile(limits: {
  readonly insideMax: number;
  readonly waitingMax: number;
}): Turnstile {
  let inside = 0;
  const waiting: (() => void)[] = [];
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) inside -= 1;
    else next();
  };
  /** Leaving twice must not let two in. */
  const once = (): (() => void) => {
    let left = false;
    return () => {
      if (!left) leave();
      left = true;
    };
  };
  return {
    async enter() {
      if (inside < limits.insideMax) inside += 1;
      else if (waiting.length >= limits.waitingMax) return null;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return once();
    },
  };
}
