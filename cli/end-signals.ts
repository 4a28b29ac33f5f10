/**
 * The end of a command that serves: the first signal asks for it, the second does not wait for it.
 * Owns the counting of signals; what ends, and how, belongs to the command.
 */
import type { Shell } from '../host/shell.ts';

export interface EndSignals {
  /** Resolves at the first signal. */
  readonly asked: Promise<void>;
  /** Resolves at the second one. */
  readonly cutOff: Promise<null>;
  readonly isAsked: boolean;
  /** As the first signal does. */
  ask(): void;
  stopListening(): void;
}

/** `onAsked` hears of the first one alone. */
export function endSignals(shell: Shell, onAsked = (): void => undefined): EndSignals {
  let [settle, cut]: [() => void, (end: null) => void] = [() => undefined, () => undefined];
  const asked = new Promise<void>((resolve) => (settle = resolve));
  const cutOff = new Promise<null>((resolve) => (cut = resolve));
  let isAsked = false;
  const ask = (): void => {
    isAsked = true;
    settle();
  };
  const stopListening = shell.onInterrupt(() => {
    if (isAsked) return cut(null);
    onAsked();
    ask();
  });
  return {
    ...{ asked, cutOff, ask, stopListening },
    get isAsked() {
      return isAsked;
    },
  };
}
