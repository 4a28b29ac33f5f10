/**
 * One expectation beside a play: when it is asked, and whether it held.
 * Owns the meaning of `at`, `always`, `never`, `eventually` and `end`; must not know what an expression is made of.
 */
import type { PartValue } from '../../dsl/expression/expression.ts';
import type { Expectation } from '../../dsl/scenario/scenario.ts';

/** What an expression came to at one look. */
export type Look =
  | { readonly kind: 'value'; readonly holds: boolean; readonly values: () => readonly PartValue[] }
  /** It could not be evaluated. */
  | { readonly kind: 'impossible'; readonly reason: string };

/** What is asked for at one instant. */
export interface Asked {
  readonly elapsedMs: number;
  look(expectation: Expectation): Look;
}

export type Verdict =
  { readonly held: true } | { readonly held: false; readonly elapsedMs: number; readonly look: Look };

const TOO_EARLY: Look = { kind: 'impossible', reason: 'the clock stops before its time' };

export class ExpectationWatch {
  readonly expectation: Expectation;
  /** Null while it is open. */
  verdict: Verdict | null = null;

  constructor(expectation: Expectation) {
    this.expectation = expectation;
  }

  /** Milliseconds from the beginning at which it must be asked, whether or not something happens then. */
  get boundsMs(): readonly number[] {
    const { expectation } = this;
    switch (expectation.kind) {
      case 'at':
        return [expectation.atMs, expectation.atMs + expectation.withinMs];
      case 'eventually':
        return [0, expectation.withinMs];
      case 'always':
      case 'never':
      case 'end':
        return [];
    }
  }

  /** True while a step can decide it. */
  get watchesSteps(): boolean {
    return this.verdict === null && (this.expectation.kind === 'always' || this.expectation.kind === 'never');
  }

  /** After a step that changed something that can be asked for, and once more when the clock stops. */
  afterStep(asked: Asked): void {
    if (!this.watchesSteps) return;
    const look = asked.look(this.expectation);
    const holds = look.kind === 'value' && look.holds === (this.expectation.kind === 'always');
    if (!holds) this.verdict = { held: false, elapsedMs: asked.elapsedMs, look };
  }

  /** After everything that happens at one instant. */
  afterInstant(asked: Asked): void {
    const { expectation } = this;
    if (this.verdict !== null) return;
    if (expectation.kind !== 'at' && expectation.kind !== 'eventually') return;
    const fromMs = expectation.kind === 'at' ? expectation.atMs : 0;
    const untilMs = fromMs + expectation.withinMs;
    if (asked.elapsedMs < fromMs) return;
    this.decide(asked, asked.elapsedMs >= untilMs);
  }

  /** The clock stops: what is open now is decided as it stands. */
  end(asked: Asked): void {
    this.afterStep(asked);
    if (this.verdict !== null) return;
    const { expectation } = this;
    if (this.watchesSteps) this.verdict = { held: true };
    else if (expectation.kind === 'at' && asked.elapsedMs < expectation.atMs)
      this.verdict = { held: false, elapsedMs: asked.elapsedMs, look: TOO_EARLY };
    else this.decide(asked, true);
  }

  private decide(asked: Asked, isLast: boolean): void {
    const look = asked.look(this.expectation);
    if (look.kind === 'value' && look.holds) this.verdict = { held: true };
    else if (isLast) this.verdict = { held: false, elapsedMs: asked.elapsedMs, look };
  }
}
