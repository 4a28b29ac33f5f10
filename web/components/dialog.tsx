/**
 * A question in front of the page, as the browser's own dialog: the focus stays inside, Escape leaves it.
 * Owns opening and leaving, "busy" and what it was refused for; what is asked is handed in.
 */
import { type FormEvent, type ReactElement, type ReactNode, useEffect, useId, useRef } from 'react';
import { useAction } from '../data/use-action.ts';
import { Button } from './form.tsx';
import { Problems } from './parts.tsx';

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  onLeave(): void;
}

export function Dialog({ title, children, onLeave }: DialogProps): ReactElement {
  const box = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={box}
      className="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onLeave();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}

interface WorkingDialogProps extends DialogProps {
  /** On the button that does it. */
  readonly word: string;
  /** @throws what the API refuses it for */
  work(): Promise<unknown>;
  /** When it was done, and the dialog is left. */
  onDone?(): void;
}

/** A question before something is lost; the page behind goes on when it was done. */
export function ConfirmDialog({
  keep = 'Keep it',
  disabled = false,
  ...props
}: WorkingDialogProps & { readonly keep?: string; readonly disabled?: boolean }): ReactElement {
  const { title, children, word, work, onLeave, onDone } = props;
  const { isBusy, problems, run } = useAction(() => {
    onLeave();
    onDone?.();
  });
  return (
    <Dialog title={title} onLeave={onLeave}>
      {children}
      <Problems of={problems} />
      <div className="dialog-actions">
        <Button autoFocus onClick={onLeave}>
          {keep}
        </Button>
        <Button kind="danger" busy={isBusy} disabled={disabled} onClick={() => void run(work)}>
          {word}
        </Button>
      </div>
    </Dialog>
  );
}

/** Fields to fill in; what was typed is gone when it is left. */
export function FormDialog({
  leave = 'Leave it',
  ...props
}: WorkingDialogProps & { readonly leave?: string }): ReactElement {
  const { title, children, word, work, onLeave, onDone } = props;
  const done = (): void => {
    onLeave();
    onDone?.();
  };
  return (
    <Dialog title={title} onLeave={onLeave}>
      <WorkForm
        {...{ className: 'stack', actions: 'dialog-actions', word, work, onDone: done }}
        beside={<Button onClick={onLeave}>{leave}</Button>}
      >
        {children}
      </WorkForm>
    </Dialog>
  );
}

interface WorkFormProps {
  readonly className: string;
  readonly label?: string;
  readonly labelledBy?: string;
  /** Class of the row of buttons. */
  readonly actions?: string;
  readonly children: ReactNode;
  /** What stands beside the button that does it. */
  readonly beside?: ReactNode;
  readonly word: string;
  readonly disabled?: boolean;
  /** @throws what is wrong with what was typed, and what the API refuses it for */
  work(): Promise<unknown>;
  onDone?(): void;
}

/** A form with one button that carries it out, and what it was refused for. */
export function WorkForm(props: WorkFormProps): ReactElement {
  const { className, label, labelledBy, actions = 'form-actions', children, beside, word, disabled } = props;
  const { work, onDone } = props;
  const { isBusy, problems, run } = useAction(onDone);
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    void run(work);
  };
  return (
    <form className={className} aria-label={label} aria-labelledby={labelledBy} onSubmit={onSubmit}>
      {children}
      <Problems of={problems} />
      <div className={actions}>
        {beside}
        <Button kind="primary" type="submit" busy={isBusy} disabled={disabled}>
          {word}
        </Button>
      </div>
    </form>
  );
}
