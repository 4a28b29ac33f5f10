/**
 * How findings about a work tree are spelled and bounded: names in it are whatever an agent made up.
 * Owns the spelling of one path and the length of a list.
 */
import { GIT_FINDINGS_BYTES_MAX } from './limits.ts';

const PATH_CHARS_MAX = 200;

/** In quotes, on one line, bytes that are no text as `\xNN`, the middle of a long one cut out. */
export function shownPath(path: Buffer): string {
  const text = nameAsText(path);
  const plain = text.replace(
    /[\p{C}\u2028\u2029]/gu,
    (odd) => `\\u{${(odd.codePointAt(0) ?? 0).toString(16)}}`,
  );
  const half = PATH_CHARS_MAX / 2;
  const shown = plain.length <= PATH_CHARS_MAX ? plain : `${plain.slice(0, half)}…${plain.slice(-half)}`;
  return `"${shown}"`;
}

/** The name itself, or with bytes that are no text as `\xNN`, so that two of them never look alike. */
export function nameAsText(path: Buffer): string {
  return isText(path) ? path.toString('utf8') : escapedBytes(path);
}

function isText(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString('utf8'), 'utf8').equals(bytes);
}

function escapedBytes(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** As a header takes it; what no longer fits is counted. */
export function packedFindings(findings: readonly string[]): string {
  const kept: string[] = [];
  let bytes = 0;
  for (const finding of findings) {
    bytes += Buffer.byteLength(finding) + 3;
    if (bytes > GIT_FINDINGS_BYTES_MAX) break;
    kept.push(finding);
  }
  const rest = findings.length - kept.length;
  const all = rest === 0 ? kept : [...kept, `and ${rest} more`];
  return Buffer.from(JSON.stringify(all)).toString('base64url');
}
