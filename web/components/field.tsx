/**
 * A labelled place for input.
 * Owns the tie between label, hint and input; the input is drawn by whoever uses it, with the ids it is handed.
 */
import { useId, type ReactElement, type ReactNode } from 'react';

export interface FieldIds {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
}

export interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  children(ids: FieldIds): ReactNode;
}

export function Field({ label, hint, children }: FieldProps): ReactElement {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': hint === undefined ? undefined : hintId })}
      {hint === undefined ? null : (
        <p className="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}
