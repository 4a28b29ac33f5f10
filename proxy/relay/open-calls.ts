/**
 * The calls that have not ended.
 * Owns their places in one dense list. A `Set` copies its table every few dozen calls that come and go, and each copy
 * that has grown old keeps the calls in it, and the next copy, from being collected with the short-lived objects.
 */

export interface OpenCall {
  /** Its index in the list; only the list changes it. */
  place: number;
  /** Ends the call because its caller no longer waits, or the proxy stops. */
  leave(): void;
}

export class OpenCalls {
  private readonly calls: OpenCall[] = [];

  get size(): number {
    return this.calls.length;
  }

  add(call: OpenCall): void {
    call.place = this.calls.length;
    this.calls.push(call);
  }

  /** Once for each call that was added. */
  remove(call: OpenCall): void {
    const last = this.calls.pop();
    if (last === undefined || last === call) return;
    last.place = call.place;
    this.calls[call.place] = last;
  }

  /** Ends all of them; each removes itself. */
  leaveAll(): void {
    for (const call of [...this.calls]) call.leave();
  }
}
