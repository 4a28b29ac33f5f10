/**
 * Spend rows on disk until the store has them.
 * Owns append-only segment files; must not talk to the store. One process owns a spool directory.
 * Rows are handed to the kernel before `append` returns: they survive a killed process, not a lost machine.
 */
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import type { SpendRow } from '../../core/money/spend.ts';
import { parsedJson } from '../../core/text/parsed-json.ts';
import { asObject } from '../relay/json-value.ts';
import { QUEUE_ROWS_MAX, SEGMENT_ROWS_MAX } from '../limits.ts';
import { KeptRows } from './spend-kept.ts';
import { isReserveUsed, reserveOf, SpendReserve } from './spend-reserve.ts';

/** One sealed file. */
export interface Segment {
  readonly file: string;
  readonly bytes: number;
  /** The last state of each of its calls, in order of first mention; null when they are only on disk. */
  rows: readonly SpendRow[] | null;
  /** Left behind by an earlier process. */
  readonly isLeftover: boolean;
}

interface OpenSegment {
  readonly file: string;
  readonly fd: number;
  /** The last state of each call, in order of first mention: a call that is over is not kept twice. */
  readonly rows: Map<string, SpendRow>;
  lines: number;
  bytes: number;
}

const SEGMENT_NAME = /^spend-(\d{12})\.jsonl$/;

export class SpendSpool {
  private readonly directory: string;
  private readonly segments: Segment[];
  private current: OpenSegment | null = null;
  private nextNumber: number;
  private readonly reserve: SpendReserve;
  /** What the store has. */
  readonly kept: KeptRows;

  /** Creates the directory when it is missing and finds the segments of earlier processes. */
  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.kept = new KeptRows(directory, SEGMENT_NAME, readRows);
    const lastKept = numberOf(this.kept.names.at(-1));
    adoptReserve(directory, lastKept);
    const names = readdirSync(directory)
      .filter((name) => SEGMENT_NAME.test(name))
      .sort();
    this.segments = names.map((name) => leftover(path.join(directory, name)));
    this.nextNumber = Math.max(numberOf(names.at(-1)), lastKept) + 1;
    this.reserve = new SpendReserve(directory);
  }

  /** Keeps closing rows that a full disk has refused, in room that was taken before. False when that is used up. */
  keepAside(rows: readonly SpendRow[]): boolean {
    return this.reserve.keep(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }

  /** The store has them: the room is free again. */
  freeAside(): void {
    this.reserve.free();
  }

  /** All of them or none, in one write. @throws the file system's error when they could not be written. */
  append(rows: readonly SpendRow[]): void {
    this.current ??= this.openSegment();
    const { current } = this;
    let text = '';
    for (const row of rows) text += `${JSON.stringify(row)}\n`;
    const length = Buffer.byteLength(text);
    try {
      const written = writeSync(current.fd, text);
      if (written < length) writeRest(current.fd, Buffer.from(text), written);
    } catch (error) {
      this.takeBack(current);
      throw error;
    }
    current.bytes += length;
    current.lines += rows.length;
    for (const row of rows) current.rows.set(row.callId, row);
    if (current.lines >= SEGMENT_ROWS_MAX) this.seal();
  }

  /** Ends the current file, so that its rows can go to the store while new ones start another. */
  seal(): void {
    if (this.current === null) return;
    const { file, fd, rows, bytes } = this.current;
    closeSync(fd);
    this.current = null;
    const hasRoom = this.rowsInMemory() + rows.size <= QUEUE_ROWS_MAX;
    this.segments.push({ file, bytes, rows: hasRoom ? [...rows.values()] : null, isLeftover: false });
  }

  /** Cuts off what a failed write left, as far as the disk lets us; what comes next starts a file of its own. */
  private takeBack({ fd, bytes }: OpenSegment): void {
    try {
      ftruncateSync(fd, bytes);
    } catch {
      // A torn line is left out when the file is read; a whole one shows as a call that was interrupted.
    }
    this.seal();
  }

  /** The oldest sealed segment; null when there is none. */
  oldest(): Segment | null {
    return this.segments[0] ?? null;
  }

  /** Takes the oldest segment out, whose rows the store now has. */
  dropOldest(rows: readonly SpendRow[]): void {
    const segment = this.segments.shift();
    if (segment !== undefined) this.kept.keep(segment.file, rows);
  }

  /** Bytes on disk. */
  bytes(): number {
    return this.segments.reduce((sum, segment) => sum + segment.bytes, this.current?.bytes ?? 0);
  }

  isEmpty(): boolean {
    return this.current === null && this.segments.length === 0;
  }

  private rowsInMemory(): number {
    return this.segments.reduce((sum, segment) => sum + (segment.rows?.length ?? 0), 0);
  }

  private openSegment(): OpenSegment {
    const file = path.join(this.directory, segmentName(this.nextNumber));
    this.nextNumber += 1;
    return { file, fd: openSync(file, 'ax', 0o600), rows: new Map(), lines: 0, bytes: 0 };
  }
}

/** What an earlier process kept aside becomes a segment like any other, behind those that the store has. */
function adoptReserve(directory: string, lastKept: number): void {
  if (!isReserveUsed(directory)) return;
  const segments = readdirSync(directory).filter((name) => SEGMENT_NAME.test(name));
  const number = Math.max(numberOf(segments.sort().at(-1)), lastKept) + 1;
  renameSync(reserveOf(directory), path.join(directory, segmentName(number)));
}

/** 0 for no file. */
function numberOf(name: string | undefined): number {
  return Number(SEGMENT_NAME.exec(name ?? '')?.[1] ?? 0);
}

function segmentName(number: number): string {
  return `spend-${String(number).padStart(12, '0')}.jsonl`;
}

/** A write may end early, on a disk that is nearly full. */
function writeRest(fd: number, bytes: Buffer, from: number): void {
  for (let at = from; at < bytes.length;) at += writeSync(fd, bytes, at);
}

function leftover(file: string): Segment {
  return { file, bytes: statSync(file).size, rows: null, isLeftover: true };
}

/**
 * The last state of each call in the segment, in order of first mention. A last line that was torn by a lost machine
 * is left out.
 */
export function rowsOf(segment: Segment): readonly SpendRow[] {
  if (segment.rows !== null) return segment.rows;
  const latest = new Map<string, SpendRow>();
  for (const row of readRows(segment.file)) latest.set(row.callId, row);
  return [...latest.values()];
}

function readRows(file: string): readonly SpendRow[] {
  const rows: SpendRow[] = [];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const row = asObject(parsedJson(line));
    if (row !== null) rows.push(row as unknown as SpendRow);
  }
  return rows;
}
