/**
 * The mark of the product.
 * Owns the picture beside its name; the tab's is the same in mark.svg.
 */
import type { ReactElement } from 'react';

export function Mark({ size }: { readonly size: number }): ReactElement {
  return (
    <svg className="mark" viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M8 10.5A2.5 2.5 0 0 1 10.5 8h11a2.5 2.5 0 0 1 2.5 2.5v6a2.5 2.5 0 0 1-2.5 2.5H16l-4.5 4.5V19h-1A2.5 2.5 0 0 1 8 16.5z" />
      <polyline points="12,12.2 14.2,13.8 12,15.4" />
      <line x1="16" x2="20" y1="15.4" y2="15.4" />
    </svg>
  );
}
