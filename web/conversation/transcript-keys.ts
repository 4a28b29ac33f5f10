/**
 * The keys of a transcript: it is one stop of the tab key, and arrows lead through it.
 * Owns which key goes where. Up and down go from entry to entry, right and left over what can be pressed in one.
 */
import type { KeyboardEvent } from 'react';

const ENTRY = '[data-seq]';
const PRESSED = 'a[href], summary, button';

export function moveWithin(event: KeyboardEvent<HTMLElement>): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const to = targetOf(event);
  if (to === null) return;
  event.preventDefault();
  // A page-wide shortcut of the same key stays out of it.
  event.stopPropagation();
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: 'nearest' });
}

function targetOf({ key, currentTarget }: KeyboardEvent<HTMLElement>): HTMLElement | null {
  const entries = [...currentTarget.querySelectorAll<HTMLElement>(ENTRY)];
  const active = document.activeElement;
  const at = entries.findIndex((entry) => entry.contains(active));
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return entries[Math.min(entries.length - 1, at + 1)] ?? null;
    case 'ArrowUp':
    case 'k':
      // From the frame itself the way up begins at the newest.
      return (at === -1 ? entries.at(-1) : entries[Math.max(0, at - 1)]) ?? null;
    case 'Home':
      return entries[0] ?? null;
    case 'End':
      return entries.at(-1) ?? null;
    case 'ArrowRight':
      return pressedIn(entries[at], active, 1);
    case 'ArrowLeft':
      return pressedIn(entries[at], active, -1);
    case 'Escape':
      return at === -1 ? null : currentTarget;
    case 'Enter':
      return active === entries[at] ? opened(entries[at]) : null;
    default:
      return null;
  }
}

function pressedIn(entry: HTMLElement | undefined, active: Element | null, by: number): HTMLElement | null {
  if (entry === undefined) return null;
  const all = [...entry.querySelectorAll<HTMLElement>(PRESSED)];
  const at = all.findIndex((one) => one === active);
  if (at === -1) return by > 0 ? (all[0] ?? null) : null;
  return all[at + by] ?? (by < 0 ? entry : null);
}

/** The first fold of an entry opens or closes; the focus stays where it is. */
function opened(entry: HTMLElement | undefined): HTMLElement | null {
  const fold = entry?.querySelector('details');
  if (entry === undefined || fold === null || fold === undefined) return null;
  fold.open = !fold.open;
  return entry;
}
