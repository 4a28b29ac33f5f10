/**
 * A value of the API that is polled while the user views the page.
 * Owns the timing: nothing is requested while the tab is hidden, and one request at a time.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { CallOptions, Client } from '../../api/client/client.ts';
import { useSession } from '../session/session.ts';
import { onBack, reportAnswer, reportProblem } from './outage.ts';
import { isSignedOut, isUnreachable, sentenceOf } from './problem.ts';

/** Lists are small, and a person sees this as at once. */
export const LIVE_MS = 1_500;

export interface Polled<Value> {
  /** The last one that was read; null before the first. */
  readonly value: Value | null;
  /** Why the last request has no answer; null when it has. */
  readonly problem: string | null;
  /** Requests it at once. */
  again(): void;
}

/** `ask` must keep its identity (useCallback): another one is another request. */
export function usePolled<Value>(
  ask: (signal: AbortSignal) => Promise<Value>,
  everyMs: number | null = LIVE_MS,
): Polled<Value> {
  const { signOut } = useSession();
  const [value, setValue] = useState<Value | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const askNow = useRef<() => void>(() => undefined);
  useEffect(() => {
    const end = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    let isAway = false;
    const once = async (): Promise<void> => {
      clearTimeout(timer);
      if (isAsking) return;
      isAsking = true;
      try {
        const found = await ask(end.signal);
        if (end.signal.aborted) return;
        isAway = false;
        reportAnswer();
        setValue(found);
        setProblem(null);
      } catch (error) {
        if (end.signal.aborted) return;
        isAway = isUnreachable(error);
        reportProblem(error);
        if (isSignedOut(error)) return signOut(sentenceOf(error));
        setProblem(sentenceOf(error));
      } finally {
        isAsking = false;
        // What is requested once is repeated until the service can be reached.
        const waitMs = everyMs ?? (isAway ? LIVE_MS : null);
        if (waitMs !== null && !end.signal.aborted) timer = setTimeout(next, waitMs);
      }
    };
    const next = (): void => {
      if (!document.hidden) void once();
    };
    askNow.current = () => void once();
    document.addEventListener('visibilitychange', next);
    // What is polled rarely is up to date at once, too; what is read once may be a form that the user fills in.
    const forget = onBack(() => {
      if (everyMs !== null) next();
    });
    void once();
    return () => {
      end.abort();
      forget();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', next);
    };
  }, [ask, everyMs, signOut]);
  const again = useCallback(() => askNow.current(), []);
  return { value, problem, again };
}

/** The answer of one operation; another input, by its value, is another request. */
export function useAnswer<Name extends Exclude<keyof Client, 'events' | 'runChanges'>>(
  name: Name,
  input: NonNullable<Parameters<Client[Name]>[0]>,
  everyMs: number | null = LIVE_MS,
): Polled<Awaited<ReturnType<Client[Name]>>> {
  const { client } = useSession();
  const text = JSON.stringify(input);
  const ask = useCallback(
    (signal: AbortSignal) => {
      const call = client[name] as (input: unknown, options: CallOptions) => ReturnType<Client[Name]>;
      return call(JSON.parse(text), { signal }) as Promise<Awaited<ReturnType<Client[Name]>>>;
    },
    [client, name, text],
  );
  return usePolled(ask, everyMs);
}
