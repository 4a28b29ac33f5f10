/**
 * The frame of a table that may be wider than the page.
 * Owns that keys can scroll it, also where nothing in it can be pressed.
 */
import type { ReactElement, ReactNode } from 'react';

export interface ScrollProps {
  /** What is in it. */
  readonly label: string;
  readonly children: ReactNode;
}

export function Scroll({ label, children }: ScrollProps): ReactElement {
  return (
    <div className="scroll card" tabIndex={0} role="group" aria-label={label}>
      {children}
    </div>
  );
}
