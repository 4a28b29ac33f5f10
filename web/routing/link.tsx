/**
 * A link to another page of the console.
 * Owns the click: with a modifier, the browser does what it always does.
 */
import type { MouseEvent, ReactElement, ReactNode } from 'react';
import { addressOf, type Place } from './place.ts';
import { goTo } from './use-place.ts';

export interface LinkProps {
  readonly to: Place;
  readonly children: ReactNode;
  readonly className?: string;
  /** The link leads to the page that is shown. */
  readonly current?: boolean;
}

export function Link({ to, children, className, current = false }: LinkProps): ReactElement {
  const onClick = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    goTo(to);
  };
  return (
    <a
      href={addressOf(to)}
      className={className}
      aria-current={current ? 'page' : undefined}
      onClick={onClick}
    >
      {children}
    </a>
  );
}
