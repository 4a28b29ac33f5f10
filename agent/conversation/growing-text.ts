/**
 * A text that grows while clients may watch it: words of a model, output of a command. It is sent in pieces at
 * intervals, masked, and never kept: the event that it leads to has all of it.
 * Owns what was sent of it and how much is held in memory; who watches and what a piece looks like is the caller's.
 */
import { settledText } from '../growing-redaction.ts';
import { PARTIAL_CHARS_MAX, PARTIAL_EVERY_MS, PARTIAL_WAITING_CHARS_MAX } from '../limits.ts';
import type { Redactor } from '../redaction.ts';

interface GrowingTextSurroundings {
  readonly redactor: Pick<Redactor, 'forms'>;
  readonly isWatched: () => boolean;
  readonly say: (piece: string) => void;
}

/** In place of what came faster than it is sent. */
const LEFT_OUT = '\n[...]\n';

export class GrowingText {
  readonly #around: GrowingTextSurroundings;
  /** What was not sent yet, behind as much of what was as a value may reach back over. */
  #raw = '';
  #said = 0;
  #isCut = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(around: GrowingTextSurroundings) {
    this.#around = around;
  }

  /** Also while no client watches: one that connects later must not see the second half of a value. */
  push(text: string): void {
    if (text === '') return;
    this.#raw += text;
    this.#bound();
    if (!this.#around.isWatched()) return;
    this.#timer ??= setTimeout(() => this.#flush(), PARTIAL_EVERY_MS).unref();
  }

  /** What was not sent yet never is: it belonged to what is over. */
  skip(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isCut = false;
    this.#settle(this.#raw.length);
  }

  #flush(): void {
    this.#timer = null;
    if (!this.#around.isWatched()) return;
    const { text, end } = settledText(this.#around.redactor.forms, this.#raw, this.#said);
    this.#settle(end);
    if (text === '') return;
    const isLong = text.length > PARTIAL_CHARS_MAX;
    const mark = this.#isCut || isLong ? LEFT_OUT : '';
    this.#isCut = false;
    this.#around.say(mark + (isLong ? text.slice(-PARTIAL_CHARS_MAX) : text));
  }

  #bound(): void {
    const { longest } = this.#around.redactor.forms;
    if (this.#raw.length <= PARTIAL_WAITING_CHARS_MAX + 2 * longest) return;
    const from = this.#raw.length - PARTIAL_CHARS_MAX;
    if (from > this.#said) this.#isCut = true;
    this.#settle(Math.max(this.#said, from));
  }

  #settle(end: number): void {
    const start = Math.max(0, end - this.#around.redactor.forms.longest);
    this.#raw = this.#raw.slice(start);
    this.#said = end - start;
  }
}
