/**
 * The head of a page: its title, one line about it, and what can be done on it.
 * Owns the document's title, which is that of the page, and the focus after a change of pages.
 */
import { useEffect, useRef, type ReactElement, type ReactNode } from 'react';

export interface PageHeadProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** Buttons. */
  readonly actions?: ReactNode;
}

export function PageHead({ title, children, actions }: PageHeadProps): ReactElement {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <header className="page-head">
      <div className="page-head-text">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children === undefined ? null : <div className="page-head-line">{children}</div>}
      </div>
      {actions === undefined ? null : <div className="page-head-actions">{actions}</div>}
    </header>
  );
}
