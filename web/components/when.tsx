/**
 * An instant: how long ago in the text, the exact one in the reader's zone and in UTC when somebody points at it.
 * Owns the reading of the wire's form.
 */
import type { ReactElement } from 'react';
import { ago, parsedInstant, utc } from '../text/time.ts';

export function When({ at }: { readonly at: string }): ReactElement {
  const ms = parsedInstant(at);
  return (
    <time dateTime={at} title={`${new Date(ms).toLocaleString()} · ${utc(ms)}`}>
      {ago(ms, Date.now())}
    </time>
  );
}

/** A time of this day in the reader's zone, and with its day in UTC when somebody points at it. Epoch milliseconds. */
export function TimeOfDay({ at }: { readonly at: number }): ReactElement {
  return (
    <time dateTime={new Date(at).toISOString()} title={utc(at)}>
      {new Date(at).toLocaleTimeString()}
    </time>
  );
}
