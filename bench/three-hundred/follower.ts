/**
 * Reads the records of a command as they come: which conversations have ended, and when a harm is first reported.
 * Owns this reading; must not do any harm.
 */
import type { Harm } from './cases.ts';
import type { ParleyRecord } from './ground.ts';

const WORDS_MAX = 300;

export class Follower {
  /** By key: one that has ended is reported again when its sandbox is removed. */
  readonly ended = new Map<string, ParleyRecord>();
  /** Failures of attempts that were not the last one. */
  readonly retried: string[] = [];
  readonly #waiting: (() => void)[] = [];
  #struckAt: number | null = null;
  #pattern: RegExp | null = null;
  toldAfterMs: number | null = null;
  told: string | null = null;

  readonly take = (record: ParleyRecord): void => {
    if (record['type'] === 'item' && record['phase'] === 'ended')
      this.ended.set(String(record['key']), record);
    if (record['type'] === 'item' && record['phase'] === 'waiting' && Number(record['attempt']) > 0) {
      const words = `${String(record['key'])}: ${String(record['failure_class'])}: ${String(record['detail'])}`;
      if (!this.retried.includes(words)) this.retried.push(words);
    }
    if (this.#struckAt !== null && this.told === null) {
      // A store that is full cannot keep a trouble either: then a notice reports it.
      const notice = record['type'] === 'notice' ? record['text'] : null;
      const words = JSON.stringify(
        record['trouble'] ?? record['detail'] ?? record['reason'] ?? notice ?? null,
      );
      if (this.#pattern?.test(words) === true) {
        this.toldAfterMs = performance.now() - this.#struckAt;
        this.told = words.slice(0, WORDS_MAX);
      }
    }
    for (const look of this.#waiting.splice(0)) look();
  };

  struck({ told }: Harm): void {
    this.#struckAt = performance.now();
    this.#pattern = told;
  }

  async until(test: () => boolean): Promise<void> {
    while (!test()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
