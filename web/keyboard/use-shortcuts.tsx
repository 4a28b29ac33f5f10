/**
 * Listens to the keys of the whole page, and lists them.
 * Owns where they hold: not in a field, not in front of a question, and not with a modifier.
 */
import { type ReactElement, useEffect, useState } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { Button } from '../components/form.tsx';
import { goTo } from '../routing/use-place.ts';
import { afterKey, NOTHING_TYPED, OTHER_KEYS, type Shortcut, SHORTCUTS } from './shortcuts.ts';

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

export function ShortcutsDialog({ onLeave }: { onLeave(): void }): ReactElement {
  return (
    <Dialog title="Keyboard shortcuts" onLeave={onLeave}>
      <dl className="shortcuts">
        {[...SHORTCUTS, ...OTHER_KEYS].map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div className="dialog-actions">
        <Button autoFocus onClick={onLeave}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
