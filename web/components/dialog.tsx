/**
 * A question in front of the page, as the browser's own dialog: the focus stays inside, Escape leaves it.
 * Owns opening and leaving; what is asked is handed in.
 */
import { useEffect, useId, useRef, type ReactElement, type ReactNode } from 'react';

export interface DialogProps {
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
