/**
 * A status in a word.
 * Owns that it never speaks by colour alone.
 */
import type { ReactElement } from 'react';
import { labelOf, toneOf } from '../text/words.ts';

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
