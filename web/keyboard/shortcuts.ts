/**
 * Keys that lead through the console, as a list.
 * Owns which key does what; a key that the user types into a field is none of them.
 */
import type { Place } from '../routing/place.ts';

export interface Shortcut {
  /** Pressed one after the other. */
  readonly keys: readonly string[];
  readonly does: string;
  readonly to?: Place;
  /** A selector of what is focused. */
  readonly focuses?: string;
}

export const SHORTCUTS: readonly Shortcut[] = [
  { keys: ['g', 'o'], does: 'Overview', to: { page: 'overview' } },
  { keys: ['g', 'c'], does: 'Conversations', to: { page: 'conversations' } },
  { keys: ['g', 's'], does: 'Sandboxes', to: { page: 'sandboxes' } },
  { keys: ['g', 'r'], does: 'Runs', to: { page: 'runs' } },
  { keys: ['g', 'a'], does: 'Application settings', to: { page: 'settings-application' } },
  { keys: ['g', 'l'], does: 'LLM settings', to: { page: 'settings-llm' } },
  { keys: ['g', 'e'], does: 'Secrets', to: { page: 'secrets' } },
  { keys: ['g', 'k'], does: 'Keys', to: { page: 'keys' } },
  { keys: ['/'], does: 'Search on this page', focuses: 'main input[type="search"]' },
  { keys: ['t'], does: 'Go to the transcript', focuses: 'main [role="log"]' },
  { keys: ['m'], does: 'Write a message', focuses: '.message-box textarea' },
];

/** Inside a transcript, and in front of everything. */
export const OTHER_KEYS: readonly Shortcut[] = [
  { keys: ['↓'], does: 'Next entry of a transcript, as j' },
  { keys: ['↑'], does: 'Entry before, as k' },
  { keys: ['→'], does: 'What can be pressed in an entry' },
  { keys: ['Enter'], does: 'Open or close what is folded in an entry' },
  { keys: ['?'], does: 'This list' },
  { keys: ['Esc'], does: 'Leave a list or a question' },
];

/** Between two keys of one shortcut. */
const TOGETHER_MS = 1_200;

export interface Typed {
  readonly keys: readonly string[];
  readonly atMs: number;
}

export const NOTHING_TYPED: Typed = { keys: [], atMs: 0 };

/** The shortcut that a key completes, or what has been typed of one. */
export function afterKey(
  typed: Typed,
  key: string,
  nowMs: number,
): { readonly shortcut: Shortcut | null; readonly typed: Typed } {
  const before = nowMs - typed.atMs > TOGETHER_MS ? [] : typed.keys;
  for (const keys of [[...before, key], [key]]) {
    const fitting = SHORTCUTS.filter((one) => keys.every((wanted, at) => one.keys[at] === wanted));
    const whole = fitting.find((one) => one.keys.length === keys.length);
    if (whole !== undefined) return { shortcut: whole, typed: NOTHING_TYPED };
    if (fitting.length > 0) return { shortcut: null, typed: { keys, atMs: nowMs } };
  }
  return { shortcut: null, typed: NOTHING_TYPED };
}
