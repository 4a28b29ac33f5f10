/**
 * What stands where a list would be: nothing yet, or not loaded yet, or why not.
 * Owns the three cases.
 */
import type { ReactElement, ReactNode } from 'react';
import { Notice } from './notice.tsx';

export interface EmptyProps {
  readonly isLoading: boolean;
  readonly problem: string | null;
  /** It was read before, and there was nothing: what is wrong now stands beside that. */
  readonly isKnown?: boolean;
  readonly children: ReactNode;
}

export function Empty({ isLoading, problem, isKnown = false, children }: EmptyProps): ReactElement {
  if (problem !== null)
    return (
      <>
        <Notice tone="bad">{problem}</Notice>
        {isKnown ? <div className="empty card">{children}</div> : null}
      </>
    );
  if (isLoading)
    return (
      <p className="empty quiet" role="status">
        Loading …
      </p>
    );
  return <div className="empty card">{children}</div>;
}
