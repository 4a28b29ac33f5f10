/**
 * One thing that a person asks of the service, from the click to its answer.
 * Owns "busy" and the problem; a second click while it is under way does nothing.
 */
import { useCallback, useRef, useState } from 'react';
import { useSession } from '../session/session.ts';
import { isSignedOut, sentenceOf, sentencesOf } from './problem.ts';

interface Action {
  readonly isBusy: boolean;
  /** What the last one was refused for; none when it was not. */
  readonly problems: readonly string[];
  /** True when it was done. */
  run(work: () => Promise<unknown>): Promise<boolean>;
}

/** `onDone` hears of each that was done. */
export function useAction(onDone?: () => void): Action {
  const { signOut } = useSession();
  const [isBusy, setIsBusy] = useState(false);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const busy = useRef(false);
  const run = useCallback(
    async (work: () => Promise<unknown>) => {
      if (busy.current) return false;
      busy.current = true;
      setIsBusy(true);
      setProblems([]);
      try {
        await work();
        onDone?.();
        return true;
      } catch (error) {
        if (isSignedOut(error)) signOut(sentenceOf(error));
        else setProblems(sentencesOf(error));
        return false;
      } finally {
        busy.current = false;
        setIsBusy(false);
      }
    },
    [signOut, onDone],
  );
  return { isBusy, problems, run };
}
