/**
 * The last lines that a program printed, for the sentence about its end.
 * Owns the splitting; each line is also handed on.
 */

/** An error of the server is in its last line; a few before it help to see why. */
const LINES_MAX = 20;

export class LastLines {
  private readonly lines: string[] = [];
  private rest = '';
  private readonly onLine: (line: string) => void;

  constructor(onLine: (line: string) => void) {
    this.onLine = onLine;
  }

  add(text: string): void {
    const parts = (this.rest + text).split('\n');
    this.rest = parts.pop() ?? '';
    for (const line of parts.map((part) => part.trimEnd()).filter((part) => part !== '')) {
      this.lines.push(line);
      if (this.lines.length > LINES_MAX) this.lines.shift();
      this.onLine(line);
    }
  }

  /** Null when nothing was printed. */
  last(): string | null {
    const rest = this.rest.trim();
    return rest === '' ? (this.lines.at(-1) ?? null) : rest;
  }
}
