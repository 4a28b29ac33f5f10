/**
 * Output of a command that still runs, so far.
 * Owns the looks. It is not read aloud at each line: the result is, as a whole.
 */
import type { ReactElement } from 'react';
import { TerminalOutput } from './terminal-output.tsx';

export function GrowingOutput({ text }: { readonly text: string }): ReactElement {
  return (
    <div className="outcome outcome-growing" aria-live="off" role="group" aria-label="Output so far">
      <TerminalOutput text={text} />
    </div>
  );
}
