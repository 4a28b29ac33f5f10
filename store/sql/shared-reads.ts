/**
 * The same question, asked by several in the same turn of the event loop, is one statement.
 * Owns the sharing: those who poll a page together are answered together. Must not know a table.
 */
import { setImmediate as eventLoopTick } from 'node:timers/promises';

export class SharedReads<Answer> {
  private readonly open = new Map<string, Promise<Answer>>();

  /**
   * `question` names all that the answer depends on, who asks included. `ask` begins after this call, so that it sees
   * every write that was acknowledged before; its answer is everybody's, and nobody may change it.
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
