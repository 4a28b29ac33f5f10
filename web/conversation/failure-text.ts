/**
 * Why an agent has failed, from the events that it left.
 * Owns the reading; pure.
 */
import type { StreamedEvent } from '../../api/client/client.ts';
import { textField } from './event-text.ts';

const FAILED = new Set(['ERROR', 'STUCK']);

/** Null for an agent that has not failed. The last error counts: what came before it, it has outlived. */
export function failureText(executionStatus: string | null, events: readonly StreamedEvent[]): string | null {
  if (!FAILED.has((executionStatus ?? '').toUpperCase())) return null;
  const last = events.findLast(({ event: { kind } }) => kind.endsWith('ErrorEvent'))?.event;
  if (last === undefined) return 'no reason was given.';
  const code = textField(last, 'code');
  const detail = textField(last, 'detail') || textField(last, 'error');
  return [code, detail].filter((part) => part !== '').join(': ');
}
