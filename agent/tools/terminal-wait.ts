/**
 * Waiting for a terminal command: until it ends, falls silent, takes too long, or the run is interrupted.
 */
import type { TerminalSession } from './terminal-session.ts';

export type WaitOutcome = 'ended' | 'quiet' | 'late' | 'aborted';

/** Never rejects, never ends the command itself. `quietMs` null: silence does not matter. */
export async function waitForCommand(
  session: TerminalSession,
  bound: { readonly quietMs: number | null; readonly totalMs: number; readonly signal: AbortSignal },
): Promise<WaitOutcome> {
  if (bound.signal.aborted) return 'aborted';
  const { quietMs } = bound;
  let stop: (outcome: WaitOutcome) => void = () => undefined;
  const stopped = new Promise<WaitOutcome>((resolve) => (stop = resolve));
  const late = setTimeout(() => stop('late'), bound.totalMs);
  const quiet = quietMs === null ? null : setTimeout(() => stop('quiet'), quietMs);
  const aborted = (): void => stop('aborted');
  bound.signal.addEventListener('abort', aborted, { once: true });
  session.onOutput = () => quiet?.refresh();
  try {
    return await Promise.race([session.ended().then((): WaitOutcome => 'ended'), stopped]);
  } finally {
    clearTimeout(late);
    if (quiet !== null) clearTimeout(quiet);
    bound.signal.removeEventListener('abort', aborted);
    session.onOutput = () => undefined;
  }
}
