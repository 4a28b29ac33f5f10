/**
 * A sentence about what has just happened.
 * Owns how it is announced: what went wrong at once, what went well when there is a pause.
 */
import type { ReactElement, ReactNode } from 'react';

export interface NoticeProps {
  readonly tone: 'good' | 'bad' | 'wait' | 'calm';
  readonly children: ReactNode;
}

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
