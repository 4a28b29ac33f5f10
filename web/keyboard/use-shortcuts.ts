/**
 * Listens to the keys of the whole page.
 * Owns where they hold: not in a field, not in front of a question, and not with a modifier.
 */
import { useEffect, useState } from 'react';
import { goTo } from '../routing/use-place.ts';
import { afterKey, NOTHING_TYPED, type Shortcut } from './shortcuts.ts';

const FIELD = 'input, textarea, select, [contenteditable]';

/** Whether the list of shortcuts is shown, and how it is closed. */
export function useShortcuts(): readonly [boolean, (isShown: boolean) => void] {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    let typed = NOTHING_TYPED;
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      const { target } = event;
      const isTaken = target instanceof Element && target.closest(FIELD) !== null;
      if (isTaken || document.querySelector('dialog[open]') !== null) return;
      if (event.key === '?') {
        event.preventDefault();
        return setIsShown(true);
      }
      const next = afterKey(typed, event.key, performance.now());
      typed = next.typed;
      if (next.shortcut !== null && carryOut(next.shortcut)) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return [isShown, setIsShown];
}

/** False where there is nothing of it on this page. */
function carryOut({ to, focuses }: Shortcut): boolean {
  if (to !== undefined) goTo(to);
  if (focuses === undefined) return to !== undefined;
  const element = document.querySelector<HTMLElement>(focuses);
  element?.focus();
  return element !== null;
}
