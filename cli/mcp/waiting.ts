/**
 * Waiting for a conversation or a run on behalf of a caller, who gets notices that it goes on.
 * Owns the polling, the bound and the signs of life; must not influence what is waited for.
 */
import { z } from 'zod';
import { SECOND_MS } from '../../core/time.ts';
import { sleep } from '../../runtimes/on-host/wait.ts';
import type { ToolCall } from './mcp-tool.ts';

/** A caller sees no difference to "at once", and the store hardly notices. */
const POLL_MS = 500;
/** Clients give up a call that is silent for a minute; some do so after 10 seconds. */
const SIGN_EVERY_MS = 5 * SECOND_MS;
const TIMEOUT_S = 600;
/** The longest that a session of a sandbox lasts, and twice that. */
const TIMEOUT_S_MAX = 86_400;

export const timeoutIn = z
  .int()
  .min(1)
  .max(TIMEOUT_S_MAX)
  .default(TIMEOUT_S)
  .describe('Seconds to wait at most; what is waited for goes on afterwards.');

export interface Waiting<State> {
  readonly timeoutSeconds: number;
  look(): Promise<State>;
  isOver(state: State): boolean;
  /** One line, sent whenever it has changed while the wait lasts. */
  words(state: State): string;
}

export interface Waited<State> {
  readonly state: State;
  /** True when the time was over first. */
  readonly timedOut: boolean;
}

/** @throws the reason of the call's signal */
export async function waitUntil<State>(
  { desk, signal, progress }: Pick<ToolCall<unknown>, 'desk' | 'signal' | 'progress'>,
  { timeoutSeconds, look, isOver, words }: Waiting<State>,
): Promise<Waited<State>> {
  const { clock } = desk.shell;
  const until = clock.now() + timeoutSeconds * SECOND_MS;
  let told = { words: '', at: Number.NEGATIVE_INFINITY };
  for (;;) {
    const state = await look();
    // The answer is the last word: a notice right before it is dropped by clients that read both at once.
    if (isOver(state)) return { state, timedOut: false };
    const now = clock.now();
    const said = words(state);
    if (said !== told.words || now - told.at >= SIGN_EVERY_MS) {
      progress(said);
      told = { words: said, at: now };
    }
    if (now >= until) return { state, timedOut: true };
    await sleep(clock, Math.min(POLL_MS, until - now), signal);
    signal.throwIfAborted();
  }
}
