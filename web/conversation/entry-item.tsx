/**
 * One entry of a transcript: a message, an action with its result, a trouble, or a change of state.
 * Owns its appearance. What an agent says is never folded; what a tool was given or answered is, when it is long.
 */
import { memo, type ReactElement, type ReactNode } from 'react';
import { TimeOfDay } from '../components/parts.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { GrowingOutput, TerminalOutput } from '../terminal/terminal-output.tsx';
import { usdOfNano } from '../text/money.ts';
import { exactDuration } from '../text/time.ts';
import { ActionDetail } from './action-detail.tsx';
import { eventText, type EventText, type TranscriptEvent } from './event-text.ts';
import { durationMs, exitCodeOf, instantOf, type TranscriptEntry } from './transcript-entries.ts';

/** More than this is folded, and is one click away. */
const LINES_SHOWN_MAX = 14;
const CHARS_SHOWN_MAX = 4_000;

export interface EntryItemProps extends TranscriptEntry {
  /** What the model's answer cost that began with it; null where another entry shows it, or it is not known. */
  readonly nanoUsd: number | null;
  readonly isTarget: boolean;
  /** Output of an action that still runs; null where there is none. */
  readonly growing: string | null;
}

export const EntryItem = memo(function EntryItem(props: EntryItemProps): ReactElement {
  const { seq, event, isTarget, growing } = props;
  const text = eventText(event);
  const { who, look, head } = text;
  if (look === 'state')
    return (
      <li className="event event-state" data-seq={seq} tabIndex={-1}>
        {head} <Clock event={event} />
      </li>
    );
  return (
    <li className={`event event-${look}${isTarget ? ' event-target' : ''}`} data-seq={seq} tabIndex={-1}>
      <div className="event-head">
        <strong>{who}</strong>
        {head === '' ? null : <span className="event-summary">{head}</span>}
        <Figures {...props} />
        <Clock event={event} />
      </div>
      {look === 'action' ? <ActionDetail event={event} /> : <Body text={text} />}
      {props.result === null ? null : <Result event={props.result} said={text.body} />}
      {props.result !== null || growing === null ? null : <GrowingOutput text={growing} />}
    </li>
  );
});

/** How an action ended, how long it took and what its thought cost. */
function Figures(entry: EntryItemProps): ReactElement | null {
  const { event, result, nanoUsd } = entry;
  const code = exitCodeOf(result);
  const ms = durationMs(entry);
  const isRunning = event.kind === 'ActionEvent' && result === null && event['tool_name'] !== 'finish';
  return (
    <span className="event-figures">
      {isRunning ? <span className="tag">no result yet</span> : null}
      {code === null ? null : (
        <span className={`tag ${code === 0 ? 'tag-strong' : 'tag-bad'}`}>exit {code}</span>
      )}
      {ms === null ? null : <span className="quiet">{exactDuration(ms)}</span>}
      {nanoUsd === null ? null : <span className="quiet">{usdOfNano(nanoUsd)}</span>}
    </span>
  );
}

interface ResultProps {
  readonly event: TranscriptEvent;
  /** By the action itself: the result of `finish` is its own message, which is read once. */
  readonly said: string;
}

function Result({ event, said }: ResultProps): ReactElement | null {
  const text = eventText(event);
  if (text.look === 'result' && text.body === said) return null;
  return (
    <div className={`outcome outcome-${text.look}`}>
      {text.look === 'result' ? null : <strong className="outcome-head">{text.who}</strong>}
      <Body text={text} />
    </div>
  );
}

function Body({ text }: { readonly text: EventText }): ReactElement | null {
  const { body, look, isCode } = text;
  if (body.trim() === '') return null;
  if (!isCode && (look === 'agent' || look === 'user')) return <Markdown text={body} />;
  if (!isCode) return <p className="event-text">{body}</p>;
  return (
    <Folded text={body}>
      <TerminalOutput text={body} />
    </Folded>
  );
}

export function Folded({
  text,
  children,
}: {
  readonly text: string;
  readonly children: ReactNode;
}): ReactElement {
  const lines = text.split('\n').length;
  if (lines <= LINES_SHOWN_MAX && text.length <= CHARS_SHOWN_MAX) return <>{children}</>;
  return (
    <details>
      <summary tabIndex={-1}>{lines === 1 ? 'One long line' : `${lines} lines`}</summary>
      {children}
    </details>
  );
}

/** In the reader's zone; UTC when the user points at it. */
function Clock({ event }: { readonly event: TranscriptEvent }): ReactElement | null {
  const at = instantOf(event);
  return Number.isNaN(at) ? null : <TimeOfDay at={at} />;
}
