/**
 * A question before something is lost.
 * Owns the two buttons, "busy" and what it was refused for; the page behind goes on when it was done.
 */
import type { ReactElement, ReactNode } from 'react';
import { useAction } from '../data/use-action.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Problems } from './notice.tsx';

export interface ConfirmDialogProps {
  readonly title: string;
  /** What happens. */
  readonly children: ReactNode;
  /** On the button that does it. */
  readonly word: string;
  /** @throws what the API refuses it for */
  work(): Promise<unknown>;
  onLeave(): void;
  onDone(): void;
}

export function ConfirmDialog(props: ConfirmDialogProps): ReactElement {
  const { title, children, word, work, onLeave, onDone } = props;
  const action = useAction();
  const carryOut = async (): Promise<void> => {
    if (!(await action.run(async () => void (await work())))) return;
    onLeave();
    onDone();
  };
  return (
    <Dialog title={title} onLeave={onLeave}>
      <p>{children}</p>
      <Problems of={action.problems} />
      <div className="dialog-actions">
        <Button autoFocus onClick={onLeave}>
          Keep it
        </Button>
        <Button kind="danger" busy={action.isBusy} onClick={() => void carryOut()}>
          {word}
        </Button>
      </div>
    </Dialog>
  );
}
