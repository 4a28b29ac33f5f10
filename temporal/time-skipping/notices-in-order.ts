/**
 * What the world says, one after the other, in the order in which it is said.
 * Owns how much of it is still under way; nobody waits for it.
 */
export class NoticesInOrder {
  waiting = 0;
  private last: Promise<void> = Promise.resolve();
  private readonly onProblem: (problem: unknown) => void;

  constructor(onProblem: (problem: unknown) => void) {
    this.onProblem = onProblem;
  }

  say(deliver: () => Promise<void>): void {
    this.waiting += 1;
    this.last = this.last
      .then(deliver)
      .catch(this.onProblem)
      .then(() => void (this.waiting -= 1));
  }
}
