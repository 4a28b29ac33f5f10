/**
 * What the proxy has seen of each entry since it started: calls in flight, their outcomes, whose turn it is.
 * Owns these figures over reloads; must not take an entry out of service because it failed (D22).
 */
import type { ModelEntry } from './config.ts';

export interface EntryState {
  inFlight: number;
  calls: number;
  failures: number;
  /** Status of the last answer; null when there was none. */
  lastStatus: number | null;
  /** Epoch milliseconds of the end of the last call; null before the first. */
  lastEndedAt: number | null;
  lastSucceeded: boolean;
  /** What its calls used beside what they were taken for; null until one was seen. */
  measured: Measured | null;
  /** Grows by 1 / weight with every call: the smallest is next. */
  turn: number;
}

/** How far the words of a call can be relied on at this entry. */
export interface Measured {
  /** Tokens of a prompt beyond the bytes of its call: what the gateway puts before it. */
  promptTokensBeside: number;
  /** No call has answered more than it was allowed, or cost more than its tokens can. */
  keepsLimits: boolean;
}

export class EntryStates {
  private readonly states = new Map<string, EntryState>();

  of(entry: ModelEntry): EntryState | null {
    return this.states.get(entry.id) ?? null;
  }

  /** The entry whose turn it is first, then the others by turn. One that is new joins where the others stand. */
  inOrder(entries: readonly ModelEntry[]): readonly ModelEntry[] {
    if (entries.length === 1) return entries;
    const known = entries.flatMap((entry) => this.states.get(entry.id)?.turn ?? []);
    const newcomer = known.length === 0 ? 0 : Math.min(...known);
    const turn = (entry: ModelEntry): number => this.states.get(entry.id)?.turn ?? newcomer;
    const ordered = entries.toSorted((a, b) => turn(a) - turn(b));
    for (const entry of entries) this.state(entry, newcomer);
    return ordered;
  }

  begin(entry: ModelEntry): void {
    const state = this.state(entry, 0);
    state.inFlight += 1;
    state.calls += 1;
    state.turn += 1 / entry.weight;
  }

  end(
    entry: ModelEntry,
    outcome: { readonly isFailure: boolean; readonly status: number | null; readonly at: number },
  ): void {
    const state = this.state(entry, 0);
    state.inFlight -= 1;
    if (outcome.isFailure) state.failures += 1;
    state.lastStatus = outcome.status;
    state.lastEndedAt = outcome.at;
    state.lastSucceeded = !outcome.isFailure;
  }

  /** A call has ended, and the gateway has said what it used. */
  measure(
    entry: ModelEntry,
    seen: { readonly promptTokensBeside: number; readonly keptLimits: boolean },
  ): void {
    const state = this.state(entry, 0);
    const before = state.measured;
    state.measured = {
      promptTokensBeside: Math.max(before?.promptTokensBeside ?? 0, seen.promptTokensBeside),
      keepsLimits: (before?.keepsLimits ?? true) && seen.keptLimits,
    };
  }

  private state(entry: ModelEntry, turn: number): EntryState {
    const known = this.states.get(entry.id);
    if (known !== undefined) return known;
    const fresh: EntryState = {
      inFlight: 0,
      calls: 0,
      failures: 0,
      lastStatus: null,
      lastEndedAt: null,
      lastSucceeded: true,
      measured: null,
      turn,
    };
    this.states.set(entry.id, fresh);
    return fresh;
  }
}
