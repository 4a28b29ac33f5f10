/**
 * What goes wrong between the runtime and the stand-in API server.
 * Owns the orders of a test: which calls, how often, and whether the call happened all the same.
 */

export interface Fault {
  /** Of `METHOD /path?query`. */
  readonly of: RegExp;
  /** `hang` never answers; `reset` breaks the connection; a number is the status. */
  readonly what: 'hang' | 'reset' | number;
  readonly times: number;
  readonly retryAfterS?: number;
  /** The call is carried out, and then its answer is lost. */
  readonly isDone?: boolean;
  /** The server's own sentence, where the status alone does not say it. */
  readonly message?: string;
}

export interface Faults {
  /** While true nothing is answered at all: connections are broken. */
  isAway: boolean;
  add(fault: Fault): void;
  /** The fault that strikes this call, if any. */
  take(call: string): Fault | null;
  /** How many calls faults have struck. */
  readonly struck: number;
}

export function createFaults(): Faults {
  const orders: { fault: Fault; left: number }[] = [];
  let struck = 0;
  return {
    isAway: false,
    get struck() {
      return struck;
    },
    add: (fault) => void orders.push({ fault, left: fault.times }),
    take(call) {
      const order = orders.find(({ fault, left }) => left > 0 && fault.of.test(call));
      if (order === undefined) return null;
      order.left -= 1;
      struck += 1;
      return order.fault;
    },
  };
}
