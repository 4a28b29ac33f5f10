/**
 * Things to undo, last first, when starting fails half-way or a host ends.
 * Owns the order; every one is undone once, also when an earlier one could not be.
 */
export class Closers {
  private readonly closers: (() => void | Promise<void>)[] = [];

  add(close: () => void | Promise<void>): void {
    this.closers.unshift(close);
  }

  /** @throws the first error, once everything was tried */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (const close of this.closers.splice(0)) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
