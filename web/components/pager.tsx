/**
 * The way through pages that the server hands out, each of which names the next.
 * Owns the two buttons; the list of ids is kept by whoever asks.
 */
import type { ReactElement } from 'react';
import { Button } from './button.tsx';

export interface PagerProps {
  /** Ids of the pages behind the first, up to the one that is shown. */
  readonly pages: readonly string[];
  /** Null on the last page. */
  readonly next: string | null;
  onChange(pages: readonly string[]): void;
}

export function Pager({ pages, next, onChange }: PagerProps): ReactElement | null {
  if (pages.length === 0 && next === null) return null;
  return (
    <nav className="pager" aria-label="Pages of the list">
      <span className="quiet">Page {pages.length + 1}</span>
      <Button kind="quiet" disabled={pages.length === 0} onClick={() => onChange(pages.slice(0, -1))}>
        Back
      </Button>
      <Button
        kind="quiet"
        disabled={next === null}
        onClick={() => onChange(next === null ? pages : [...pages, next])}
      >
        Next
      </Button>
    </nav>
  );
}
