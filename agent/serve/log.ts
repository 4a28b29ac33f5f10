/**
 * One JSON line per noteworthy thing on stderr, masked. Standard output belongs to the `listening` line.
 */
import type { Redactor } from '../redaction.ts';

export type Log = (
  level: 'info' | 'warning' | 'error',
  message: string,
  fields?: Record<string, unknown>,
) => void;

/** Writes lines through `write`, with secret values masked. */
export function makeLog(redactor: Redactor, write: (line: string) => void): Log {
  return (level, message, fields = {}) => {
    write(JSON.stringify(redactor.deep({ level, message, ...fields })));
  };
}

/** The message of anything thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
