/**
 * Makes a failing case short: fewer requests of users, items, reactions and faults, and an earlier end, as long as the
 * same invariant is broken.
 * Owns the search (delta debugging, bounded by a number of tries); the caller passes in how a case is played.
 */
import { DAY_MS } from '../../core/time.ts';
import { faultKey } from '../faults/injector.ts';
import { START_AT } from '../script.ts';
import type { CaseSubset } from './case-subset.ts';
import { randomCase, type CampaignCase } from './random-case.ts';
import type { CaseResult } from './run-case.ts';

interface Shrunk {
  readonly keep: CaseSubset;
  /** The result of what is left; it breaks the same invariant. */
  readonly result: CaseResult;
  /** Cases played on the way. */
  readonly tries: number;
}

/** A case takes a tenth of a second: more than this would take too long. */
const TRIES_MAX = 200;
/** A case that was stopped because it never came to rest takes many seconds for each try. */
const TRIES_WITHOUT_REST_MAX = 6;
/** After a violation in the first phase, nothing later says more. */
const AFTER_MS = 1;

/**
 * Shrinks a case whose full play breaks an invariant; null when it breaks none.
 * `play` must be deterministic: the same subset, the same result.
 */
export function shrinkCase(
  seed: number,
  play: (keep: CaseSubset) => CaseResult,
  triesMax = TRIES_MAX,
): Shrunk | null {
  const full = play({});
  const name = full.violations[0]?.name;
  if (name === undefined) return null;
  const tries = name === 'thrown' ? Math.min(triesMax, TRIES_WITHOUT_REST_MAX) : triesMax;
  return new Shrinking(randomCase(seed), { name, play, full, triesMax: tries }).shrink();
}

class Shrinking {
  private readonly whole: CampaignCase;
  private readonly name: string;
  private readonly play: (keep: CaseSubset) => CaseResult;
  private readonly triesMax: number;
  private tries = 1;
  private best: CaseResult;
  private keep: CaseSubset = {};

  constructor(
    whole: CampaignCase,
    options: {
      readonly name: string;
      readonly play: (keep: CaseSubset) => CaseResult;
      readonly full: CaseResult;
      readonly triesMax: number;
    },
  ) {
    this.whole = whole;
    this.name = options.name;
    this.play = options.play;
    this.best = options.full;
    this.triesMax = options.triesMax;
  }

  shrink(): Shrunk {
    const { whole } = this;
    // From here on the faults are those that struck, not chance.
    this.take({ faults: this.best.injected.map(faultKey) });
    for (let before = -1; before !== this.size() && this.tries < this.triesMax;) {
      before = this.size();
      this.shorten();
      this.fewer(this.keep.faults ?? [], (faults) => ({ faults }));
      this.fewer(this.keep.actions ?? [...whole.actions.keys()], (actions) => ({ actions }));
      this.fewer(this.keep.reactions ?? [...whole.reactions.keys()], (reactions) => ({ reactions }));
      this.fewerItems();
    }
    return { keep: this.keep, result: this.best, tries: this.tries };
  }

  private size(): number {
    const { faults, actions, reactions, items, safetyMs } = this.keep;
    const left = Object.values(items ?? {}).reduce((sum, list) => sum + list.length, 0);
    return (faults?.length ?? 0) + (actions?.length ?? 0) + (reactions?.length ?? 0) + left + (safetyMs ?? 0);
  }

  /** True when it still fails: then it is what is left. */
  private take(change: CaseSubset): boolean {
    if (this.tries >= this.triesMax) return false;
    const keep = { ...this.keep, ...change };
    this.tries += 1;
    const result = this.play(keep);
    if (!result.violations.some(({ name }) => name === this.name)) return false;
    this.keep = keep;
    this.best = result;
    return true;
  }

  /** The end right after the violation; for one at rest, half of the time again and again. */
  private shorten(): void {
    const found = this.best.violations.find(({ name }) => name === this.name);
    const afterMs = (found?.at ?? START_AT) - START_AT + AFTER_MS;
    const safetyMs = this.keep.safetyMs ?? this.whole.safetyMs;
    if (found?.sequence !== null && afterMs <= safetyMs) {
      if (afterMs < safetyMs || this.keep.healingMs !== 0) this.take({ safetyMs: afterMs, healingMs: 0 });
      return;
    }
    for (let ms = Math.floor(safetyMs / 2); ms > DAY_MS / 96; ms = Math.floor(ms / 2)) {
      if (!this.take({ safetyMs: ms })) break;
    }
  }

  private fewerItems(): void {
    const kept = this.keep.actions === undefined ? null : new Set(this.keep.actions);
    for (const [number, { action }] of this.whole.actions.entries()) {
      if (action.do !== 'run' || kept?.has(number) === false) continue;
      const items = this.keep.items?.[number] ?? [...action.plan.items.keys()];
      this.fewer(items, (left) => ({ items: { ...this.keep.items, [number]: left } }), 1);
    }
  }

  /** Leaves out ever smaller parts of a list, as long as that keeps the failure. */
  private fewer<Item>(all: readonly Item[], change: (left: readonly Item[]) => CaseSubset, least = 0): void {
    let left = all;
    if (left.length > 0 && least === 0 && this.take(change([]))) return;
    for (let part = Math.ceil(left.length / 2); part >= 1; part = part === 1 ? 0 : Math.ceil(part / 2)) {
      for (let at = 0; at < left.length && left.length > least;) {
        const without = [...left.slice(0, at), ...left.slice(at + part)];
        if (without.length >= least && this.take(change(without))) left = without;
        else at += part;
      }
    }
  }
}
