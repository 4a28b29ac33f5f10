/**
 * Small parts of every page: a status, an instant, a figure with its name, tags, what has happened, and what stands
 * where a value would be.
 * Owns their appearance, that none relies on colour alone, and how events are announced: what went wrong at once, what
 * went well when there is a pause.
 */
import type { ReactElement, ReactNode } from 'react';
import type { Polled } from '../data/use-polled.ts';
import { ago, parsedInstant, utc } from '../text/time.ts';
import { labelOf, toneOf } from '../text/words.ts';

/** A status in a word. */
export function Badge({
  word,
  note,
}: {
  readonly word: string;
  readonly note?: string | null;
}): ReactElement {
  return (
    <span className={`badge badge-${toneOf(word)}`}>
      <span className="badge-dot" aria-hidden="true" />
      {labelOf(word)}
      {note === undefined || note === null ? null : <span className="badge-note">{labelOf(note)}</span>}
    </span>
  );
}

/** What is missing, or what there is none of. */
export function Dash(): ReactElement {
  return <span className="quiet">—</span>;
}

export function Tags({ of }: { readonly of: readonly string[] }): ReactElement {
  return (
    <>
      {of.map((tag) => (
        <span key={tag} className="tag">
          {tag}
        </span>
      ))}
    </>
  );
}

/** An instant of the wire: how long ago in the text, the exact one in the reader's zone and in UTC when pointed at. */
export function When({ at }: { readonly at: string }): ReactElement {
  const ms = parsedInstant(at);
  return (
    <time dateTime={at} title={`${new Date(ms).toLocaleString()} · ${utc(ms)}`}>
      {ago(ms, Date.now())}
    </time>
  );
}

/** A time of this day in the reader's zone, and with its day in UTC when the user points at it. Epoch milliseconds. */
export function TimeOfDay({ at }: { readonly at: number }): ReactElement {
  return (
    <time dateTime={new Date(at).toISOString()} title={utc(at)}>
      {new Date(at).toLocaleTimeString()}
    </time>
  );
}

interface SumProps {
  readonly name: string;
  readonly note?: ReactNode;
  readonly children: ReactNode;
}

/** One figure with its name, among others in a list of descriptions. */
export function Sum({ name, note, children }: SumProps): ReactElement {
  return (
    <div className="sum card">
      <dt>{name}</dt>
      <dd>
        {children}
        {note === undefined ? null : <small>{note}</small>}
      </dd>
    </div>
  );
}

interface NoticeProps {
  readonly tone: 'good' | 'bad' | 'wait' | 'calm';
  readonly children: ReactNode;
}

/** A sentence about what has just happened. */
export function Notice({ tone, children }: NoticeProps): ReactElement {
  return (
    <div className={`notice notice-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** One or many sentences about what was refused; nothing when there are none. */
export function Problems({ of }: { readonly of: readonly string[] }): ReactElement | null {
  if (of.length === 0) return null;
  return (
    <Notice tone="bad">
      {of.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </Notice>
  );
}

interface EmptyProps {
  /** Why it could not be read, or not read again. */
  readonly problem?: string | null;
  /** It was read before, and there was nothing: what is wrong now stands beside that. */
  readonly isKnown?: boolean;
  readonly children?: ReactNode;
}

/** What stands where a value would be: nothing yet, or not loaded yet, or why not. */
export function Empty({ problem = null, isKnown = true, children }: EmptyProps): ReactElement {
  if (problem === null && !isKnown)
    return (
      <p className="empty quiet" role="status">
        Loading …
      </p>
    );
  return (
    <>
      {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
      {isKnown ? <div className="empty card">{children}</div> : null}
    </>
  );
}

interface LoadedProps<Value> {
  readonly of: Pick<Polled<Value>, 'value' | 'problem'>;
  /** What stands where `isEmpty` finds nothing to show. */
  readonly none?: ReactNode;
  isEmpty?(value: Value): boolean;
  children(value: Value): ReactNode;
}

/** A value of the API: loading, failed, empty, and there, with what is wrong now above it. */
export function Loaded<Value>({ of, none, isEmpty, children }: LoadedProps<Value>): ReactElement {
  const { value, problem } = of;
  if (value === null || isEmpty?.(value) === true)
    return (
      <Empty isKnown={value !== null} problem={problem}>
        {none}
      </Empty>
    );
  return (
    <>
      {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
      {children(value)}
    </>
  );
}
