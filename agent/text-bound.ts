/**
 * Cutting long text and long streams, always with a note that says so.
 */

/** The text itself, or its head and tail with a note between when it is longer than `charsMax`. */
export function boundText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n[... ${left} characters were cut out here ...]\n${text.slice(-half)}`;
}

/** Keeps the first and the last half of a byte stream within a bound; the middle is dropped and counted. */
export class ByteWindow {
  readonly #halfBytes: number;
  #head: Buffer[] = [];
  #tail: Buffer[] = [];
  #headBytes = 0;
  #tailBytes = 0;
  #droppedBytes = 0;

  constructor(bytesMax: number) {
    this.#halfBytes = Math.floor(bytesMax / 2);
  }

  push(chunk: Buffer): void {
    const room = this.#halfBytes - this.#headBytes;
    const forHead = chunk.subarray(0, Math.max(0, room));
    if (forHead.length > 0) this.#head.push(forHead);
    this.#headBytes += forHead.length;
    const rest = chunk.subarray(forHead.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    // Compacted at twice the bound, so that a byte is copied once on average.
    if (this.#tailBytes > 2 * this.#halfBytes) this.#compactTail();
  }

  #compactTail(): void {
    const tail = Buffer.concat(this.#tail);
    const kept = tail.subarray(Math.max(0, tail.length - this.#halfBytes));
    this.#droppedBytes += tail.length - kept.length;
    this.#tail = [Buffer.from(kept)];
    this.#tailBytes = kept.length;
  }

  /** What was kept, decoded; invalid UTF-8 becomes replacement characters. */
  text(): string {
    if (this.#tailBytes > this.#halfBytes) this.#compactTail();
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (this.#droppedBytes === 0) return Buffer.concat([head, tail]).toString('utf8');
    const note = `\n[... ${this.#droppedBytes} bytes were cut out here ...]\n`;
    return head.toString('utf8') + note + tail.toString('utf8');
  }
}
