/**
 * One timer per entity, armed for its deadline and moved as seldom as possible.
 * Owns when a move is worth two events of history; must not know what is due.
 */
import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';

/** A deadline that creeps is followed when the armed timer strikes; one that jumps further is followed at once. */
const CREEP_MAX_MS = 60_000;

export class LazyTimer {
  private armed: { readonly at: number; readonly scope: CancellationScope } | null = null;
  private readonly strike: () => void;

  constructor(strike: () => void) {
    this.strike = strike;
  }

  arm(deadline: number | null): void {
    const { armed } = this;
    if (armed !== null && deadline !== null) {
      if (deadline >= armed.at && deadline - armed.at <= CREEP_MAX_MS) return;
    }
    armed?.scope.cancel();
    this.armed = deadline === null ? null : this.begin(deadline);
  }

  private begin(at: number): { readonly at: number; readonly scope: CancellationScope } {
    const scope = new CancellationScope({ cancellable: true });
    const mine = { at, scope };
    scope
      .run(() => sleep(Math.max(1, at - Date.now())))
      .then(() => {
        if (this.armed !== mine) return;
        this.armed = null;
        this.strike();
      })
      .catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
      });
    return mine;
  }
}
