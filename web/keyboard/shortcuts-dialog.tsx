/**
 * The list of keys.
 * Owns its looks; the keys are those that are listened to.
 */
import type { ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { OTHER_KEYS, SHORTCUTS } from './shortcuts.ts';

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
