/**
 * The same query by several callers in the same turn of the event loop is one statement.
 * Owns the sharing: clients that poll a page together get one answer. Must not know a table.
 */
import { setImmediate as eventLoopTick } from 'node:timers/promises';

export class SharedReads<Answer> {
  private readonly open = new Map<string, Promise<Answer>>();

  /**
   * `question` names all that the answer depends on, the user included. `ask` begins after this call, so that it sees
   * every write that was acknowledged before; all callers share its answer, and none may change it.
   */
  read(question: string, ask: () => Promise<Answer>): Promise<Answer> {
    const shared = this.open.get(question);
    if (shared !== undefined) return shared;
    const answer = eventLoopTick().then(() => {
      this.open.delete(question);
      return ask();
    });
    this.open.set(question, answer);
    return answer;
  }
}
