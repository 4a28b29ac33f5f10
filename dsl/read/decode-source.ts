/**
 * Bytes to text, or one clear finding: the first pass.
 * Owns encodings and the size bound; must not interpret the text.
 */
import type { RuleCode } from '../check/rule-catalogue.ts';

/** Parsing is linear but slow, about 3 s a megabyte of small maps; a larger file is a mistake. */
export const SOURCE_BYTES_MAX = 10 * 1024 * 1024;

/** A file as it was read, before anything is known of its text. */
export interface JobSource {
  /** As it is to be shown in messages. */
  readonly path: string;
  readonly text: string | Uint8Array;
}

interface Refused {
  readonly ok: false;
  readonly code: RuleCode;
  readonly message: string;
  readonly remedy: string;
  /** Counts from 1. */
  readonly line: number;
}

type Decoded = { readonly ok: true; readonly text: string } | Refused;

/** `document` is what the file should be, for messages. */
export function decodeSource(source: JobSource['text'], document = 'job'): Decoded {
  const size = typeof source === 'string' ? source.length : source.byteLength;
  if (size > SOURCE_BYTES_MAX) return tooLarge(size, document);
  if (typeof source === 'string') return checkText(source, document);
  return hasWideMark(source) ? wide(document) : decodeUtf8(source, document);
}

/** A byte order mark is not part of the text. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function decodeUtf8(bytes: Uint8Array, document: string): Decoded {
  if (bytes.includes(0)) return looksWide(bytes) ? wide(document) : binary(document);
  try {
    return checkText(new TextDecoder('utf-8', { fatal: true }).decode(bytes), document);
  } catch {
    const line = firstBrokenLine(bytes);
    const message = `line ${line} holds bytes that are not UTF-8 text`;
    return { ok: false, code: 'JOB101', message, remedy: 'save the file as UTF-8', line };
  }
}

function checkText(text: string, document: string): Decoded {
  if (text.includes('\0')) return binary(document);
  const lone = /\r(?!\n)/.exec(text);
  return lone === null ? { ok: true, text: withoutMark(text) } : loneReturn(text.slice(0, lone.index));
}

/** YAML reads it as a line break, its parser as a character, and a reader does not see it. */
function loneReturn(before: string): Decoded {
  const line = before.split('\n').length;
  const message = `line ${line} holds a carriage return without a line feed`;
  return { ok: false, code: 'JOB121', message, remedy: 'end lines with LF or CRLF', line };
}

/** Counts from 1. */
export function firstBrokenLine(bytes: Uint8Array): number {
  let line = 1;
  let start = 0;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (;;) {
    const found = bytes.indexOf(0x0a, start);
    const end = found === -1 ? bytes.length : found;
    try {
      decoder.decode(bytes.subarray(start, end));
    } catch {
      return line;
    }
    if (found === -1) return 1;
    line += 1;
    start = end + 1;
  }
}

function hasWideMark(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** UTF-16 without a mark: every second byte of Latin text is 0. */
function looksWide(bytes: Uint8Array): boolean {
  const start = bytes.subarray(0, 64);
  const even = start.filter((byte, at) => at % 2 === 0 && byte === 0).length;
  const odd = start.filter((byte, at) => at % 2 === 1 && byte === 0).length;
  const half = Math.floor(start.length / 2);
  return half > 1 && (even === 0 || odd === 0) && even + odd >= half - 1;
}

function tooLarge(size: number, document: string): Decoded {
  const message = `the file has ${(size / 1024 / 1024).toFixed(1)} MiB; a ${document} file has at most 10 MiB`;
  const remedy = `keep long texts in files of their own, or split the ${document}`;
  return { ok: false, code: 'JOB104', message, remedy, line: 1 };
}

function binary(document: string): Decoded {
  const message = 'the file holds NUL bytes, so it is not text';
  const remedy = `check that the path names a ${document} file`;
  return { ok: false, code: 'JOB102', message, remedy, line: 1 };
}

function wide(document: string): Decoded {
  const message = `the file is stored as UTF-16 or UTF-32; a ${document} file is UTF-8`;
  return { ok: false, code: 'JOB103', message, remedy: 'save the file as UTF-8', line: 1 };
}
