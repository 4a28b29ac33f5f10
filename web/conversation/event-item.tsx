/**
 * One event of a transcript.
 * Owns its looks; a long body is folded.
 */
import { memo, type ReactElement } from 'react';
import { parsedInstant } from '../text/time.ts';
import { eventText, type TranscriptEvent } from './event-text.ts';

/** More than this is folded, and is one click away. */
const LINES_SHOWN_MAX = 14;

export const EventItem = memo(function EventItem({
  event,
}: {
  readonly event: TranscriptEvent;
}): ReactElement {
  const { who, look, head, body, isCode } = eventText(event);
  if (look === 'state') return <li className="event event-state">{head}</li>;
  return (
    <li className={`event event-${look}`}>
      <div className="event-head">
        <strong>{who}</strong>
        {head === '' ? null : <span>{head}</span>}
        <time dateTime={String(event['timestamp'] ?? '')}>{clock(event)}</time>
      </div>
      <Body text={body} isCode={isCode} />
    </li>
  );
});

function Body({ text, isCode }: { readonly text: string; readonly isCode: boolean }): ReactElement | null {
  if (text.trim() === '') return null;
  const body = isCode ? <pre tabIndex={0}>{text}</pre> : <p className="event-text">{text}</p>;
  const lines = text.split('\n').length;
  if (lines <= LINES_SHOWN_MAX) return body;
  return (
    <details>
      <summary>{lines} lines</summary>
      {body}
    </details>
  );
}

function clock(event: TranscriptEvent): string {
  const at = parsedInstant(String(event['timestamp'] ?? ''));
  return Number.isNaN(at) ? '' : new Date(at).toLocaleTimeString();
}
