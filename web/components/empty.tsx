/**
 * What stands where a list would be: nothing yet, or not loaded yet, or why not.
 * Owns the three cases.
 */
import type { ReactElement, ReactNode } from 'react';
import { Notice } from './notice.tsx';

export interface EmptyProps {
  readonly isLoading: boolean;
  readonly problem: string | null;
  readonly children: ReactNode;
}

export function Empty({ isLoading, problem, children }: EmptyProps): ReactElement {
  if (problem !== null) return <Notice tone="bad">{problem}</Notice>;
  if (isLoading)
    return (
      <p className="empty quiet" role="status">
        Loading …
      </p>
    );
  return <div className="empty card">{children}</div>;
}
