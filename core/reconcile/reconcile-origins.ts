/**
 * What else could have caused a row that fits the open calls of one conversation by model and time (D35).
 * Owns the question; must not look for the conversation, or say what becomes of the row.
 *
 * Time says who could have caused a row, not that nobody else has. Two others could have: a call of another
 * conversation that is billed already, for the row may bill it again; and somebody who is none of ours, once the bill
 * shows that there is such a one. Against both a row has its tokens, as long as nobody else is known to have the same.
 */
import type { CallTable } from './reconcile-calls.ts';
import { tokensKey, type Contraries } from './reconcile-contraries.ts';
import { CallWindows, type WindowOptions } from './reconcile-windows.ts';

/** Calls of several callers have these tokens. */
const SEVERAL = -2;

export interface Known {
  readonly open: CallWindows;
  readonly contraries: Contraries;
  readonly options: WindowOptions;
}

export class OtherOrigins {
  private readonly open: CallWindows;
  private readonly contraries: Contraries;
  private readonly rows: WindowOptions['rows'];
  /** Of the bill as it is when the question is first asked. */
  private readonly areShown: boolean;
  private readonly billed: CallWindows;
  /** By the tokens of rows: whose calls have them. */
  private readonly ownerByTokens = new Map<number, number | null>();

  constructor(calls: CallTable, { open, contraries, options }: Known) {
    this.open = open;
    this.contraries = contraries;
    this.rows = options.rows;
    this.areShown = contraries.areShown();
    this.billed = new CallWindows(calls, calls.closed(), options);
    if (!this.areShown) return;
    for (const { tokens } of options.rows) if (tokens !== null) this.ownerByTokens.set(tokens, null);
    for (let call = 0; call < calls.length; call += 1) this.learn(calls, call);
  }

  private learn(calls: CallTable, call: number): void {
    const tokens = calls.tokensAt(call);
    if (tokens === null) return;
    const key = tokensKey(tokens);
    const known = this.ownerByTokens.get(key);
    if (known === undefined) return;
    const owner = calls.ownerAt(call);
    this.ownerByTokens.set(key, known === null || known === owner ? owner : SEVERAL);
  }

  /** `place` is that of the row among those given. */
  hasAny(place: number, owner: number): boolean {
    const hasItsTokens = this.open.ownersByTokens(place, 1).length > 0;
    const again = hasItsTokens ? this.billed.ownersByTokens(place, 2) : this.billed.ownersAt(place, 2);
    if (again.some((other) => other !== owner)) return true;
    const { owner: named = null, tokens = null } = this.rows[place] ?? {};
    // Nobody else knows the id of a conversation, proof or not.
    if (named !== null || !this.areShown) return false;
    return !hasItsTokens || !this.isOnlyOf(tokens, owner);
  }

  private isOnlyOf(tokens: number | null, owner: number): boolean {
    if (tokens === null || this.contraries.haveTokens(tokens)) return false;
    return this.ownerByTokens.get(tokens) === owner;
  }
}
