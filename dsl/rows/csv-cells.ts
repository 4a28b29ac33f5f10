/**
 * CSV text in pieces to rows of cells, one at a time (RFC 4180: commas, double quotes, line breaks inside quotes).
 * Owns the grammar; what the cells mean is the business of csv-rows.ts. Holds one row, never the file.
 */
import { ROW_CHARS_MAX, type RowProblem } from './row.ts';

interface CsvRow {
  /** Line on which the row starts, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Blank lines are no rows. Ends behind the first problem. */
export function* csvCells(chunks: Iterable<string | RowProblem>): Generator<CsvRow | RowProblem> {
  const reader = new Reader();
  for (const chunk of chunks) {
    if (typeof chunk !== 'string') return yield chunk;
    yield* reader.take(chunk);
    if (reader.problem !== null) return yield reader.problem;
  }
  const last = reader.end();
  if (last !== null) yield last;
}

type Place = 'start' | 'plain' | 'quoted' | 'closed';

class Reader {
  problem: RowProblem | null = null;
  private place: Place = 'start';
  private cell = '';
  private cells: string[] = [];
  private size = 0;
  private line = 1;
  private startedAt = 1;
  /** A carriage return belongs to the line break behind it. */
  private afterReturn = false;

  *take(chunk: string): Generator<CsvRow> {
    for (let at = 0; at < chunk.length && this.problem === null; at++) {
      const character = chunk[at] ?? '';
      if (character === '\uFEFF' && this.line === 1 && this.size === 0) continue;
      if (this.afterReturn && character !== '\n') this.failAtReturn();
      if (this.problem !== null) return;
      const run = this.place === 'quoted' || this.place === 'plain' ? this.plainRun(chunk, at) : at;
      if (run > at) {
        this.add(chunk.slice(at, run));
        at = run - 1;
        continue;
      }
      const row = this.read(character);
      if (row !== null) yield row;
    }
  }

  end(): CsvRow | RowProblem | null {
    if (this.place === 'quoted') return this.fail('a quote is opened and never closed', 'add the closing "');
    if (this.afterReturn) return this.failAtReturn();
    return this.finishRow();
  }

  /** The end of a stretch without anything special. */
  private plainRun(chunk: string, from: number): number {
    const special = this.place === 'quoted' ? /["\n]/g : /[",\r\n]/g;
    special.lastIndex = from;
    return special.exec(chunk)?.index ?? chunk.length;
  }

  private read(character: string): CsvRow | null {
    this.afterReturn = false;
    if (this.place === 'quoted') return this.readQuoted(character);
    switch (character) {
      case ',':
        this.finishCell();
        return null;
      case '\r':
        this.afterReturn = true;
        return null;
      case '\n': {
        const row = this.finishRow();
        this.line += 1;
        this.startedAt = this.line;
        return row;
      }
      default:
        return this.readOther(character);
    }
  }

  private readOther(character: string): null {
    if (character === '"' && this.place === 'closed') {
      this.place = 'quoted';
      this.add('"');
    } else if (character === '"' && this.place === 'start') this.place = 'quoted';
    else if (this.place === 'closed' || character === '"')
      this.fail(
        'a quote stands inside a cell',
        'put the whole cell in quotes, and write "" for a quote in it',
      );
    else {
      this.place = 'plain';
      this.add(character);
    }
    return null;
  }

  private readQuoted(character: string): null {
    if (character === '"') this.place = 'closed';
    else this.add(character);
    if (character === '\n') this.line += 1;
    return null;
  }

  private add(text: string): void {
    this.cell += text;
    this.size += text.length;
    if (this.size > ROW_CHARS_MAX)
      this.fail('a row has more than 1 MiB', 'keep long texts in files of their own');
  }

  private finishCell(): void {
    this.cells.push(this.cell);
    this.cell = '';
    this.place = 'start';
    this.size += 1;
  }

  private finishRow(): CsvRow | null {
    const isBlank = this.cells.length === 0 && this.cell === '' && this.place === 'start';
    if (!isBlank) this.finishCell();
    const { cells, startedAt } = this;
    this.cells = [];
    this.size = 0;
    return isBlank ? null : { line: startedAt, cells };
  }

  /** Some read it as a line break, some as text, and some drop it. */
  private failAtReturn(): RowProblem {
    this.problem ??= {
      line: this.line,
      message: 'this line holds a carriage return without a line feed',
      remedy: 'end lines with LF or CRLF; in a cell, put the whole cell in quotes',
    };
    return this.problem;
  }

  private fail(message: string, remedy: string): RowProblem {
    this.problem ??= { line: this.startedAt, message, remedy };
    return this.problem;
  }
}
