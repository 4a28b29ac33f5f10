/**
 * What is not an event yet: words of the agent behind the last entry, and output below the action that still runs.
 * Owns the looks. It is text and no Markdown: half a text has no form yet, and the event that follows has one.
 */
import type { ReactElement } from 'react';
import type { PartialWords } from '../data/partial-texts.ts';
import { TerminalOutput } from '../terminal/terminal-output.tsx';

/** Not read aloud at each word: the event is, as a whole. */
export function GrowingWords({ words }: { readonly words: PartialWords }): ReactElement {
  const { content, reasoning } = words;
  return (
    <li className="event event-agent event-growing" aria-live="off" aria-label="Agent is writing">
      <div className="event-head">
        <strong>Agent</strong>
        <span className="tag">writing …</span>
      </div>
      {content === '' ? (
        <p className="event-text quiet">{reasoning}</p>
      ) : (
        <p className="event-text">{content}</p>
      )}
    </li>
  );
}

export function GrowingOutput({ text }: { readonly text: string }): ReactElement {
  return (
    <div className="outcome outcome-growing" aria-live="off" role="group" aria-label="Output so far">
      <TerminalOutput text={text} />
    </div>
  );
}
