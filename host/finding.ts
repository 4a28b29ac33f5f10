/**
 * What a check of the machine, or of what a job needs, has found.
 * Owns its shape, its three standings and its one printed form; must not check anything.
 */
import { padded, printable } from './terminal-text.ts';

/** What one check of a deployment found. */
export interface Finding {
  readonly check: string;
  /** `warning` does not keep a run from working. */
  readonly status: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  /** What to do; null when all is well. */
  readonly remedy: string | null;
}

/** Something that is as it must be. */
export const passed = (check: string, detail: string): Finding => ({
  check,
  status: 'ok',
  detail,
  remedy: null,
});

/** Something that does not keep a run from working. */
export const warned = troubled('warning');

/** Something that keeps a run from working. */
export const failed = troubled('failed');

function troubled(status: Finding['status']) {
  return (check: string, detail: string, remedy: string): Finding => ({ check, status, detail, remedy });
}

/** As one line, and another for the remedy. */
export function printFinding({ status, check, detail, remedy }: Finding): string {
  const line = `${padded(status, 7, 'left')}  ${padded(check, 14, 'left')}  ${printable(detail)}\n`;
  return remedy === null ? line : `${line}         = ${printable(remedy)}\n`;
}
