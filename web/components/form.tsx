/**
 * What a form is made of: buttons, checkboxes, and labelled places for input.
 * Owns the tie between label, hint and input, and "busy": a button that is at work takes no second click, and says so.
 */
import {
  type ButtonHTMLAttributes,
  type InputHTMLAttributes,
  type ReactElement,
  type ReactNode,
  type TextareaHTMLAttributes,
  useId,
} from 'react';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  readonly busy?: boolean;
}

export function Button(props: ButtonProps): ReactElement {
  const { kind = 'plain', busy = false, type = 'button', className = '', disabled = false, ...rest } = props;
  return (
    <button
      {...rest}
      type={type}
      className={`button button-${kind} ${className}`.trim()}
      disabled={disabled || busy}
      aria-busy={busy}
    />
  );
}

interface CheckProps {
  readonly label: string;
  readonly hint?: string;
  readonly checked: boolean;
  readonly disabled?: boolean;
  onChange(checked: boolean): void;
}

export function Check({ label, hint, checked, disabled = false, onChange }: CheckProps): ReactElement {
  const id = useId();
  return (
    <div className="check">
      <input
        type="checkbox"
        id={id}
        checked={checked}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        <Hint id={`${id}-hint`} of={hint} />
      </div>
    </div>
  );
}

function Hint({ id, of }: { readonly id: string; readonly of: ReactNode }): ReactElement | null {
  if (of === undefined) return null;
  return (
    <p className="hint" id={id}>
      {of}
    </p>
  );
}

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
}

interface FieldIds {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
}

/** The caller draws the input, with the ids that it gets. */
export function Field({
  label,
  hint,
  children,
}: FieldProps & { children(ids: FieldIds): ReactNode }): ReactElement {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': hint === undefined ? undefined : hintId })}
      <Hint id={hintId} of={hint} />
    </div>
  );
}

/** A field with an input of one line; the other properties go to the input. */
export function TextField({
  label,
  hint,
  onText,
  ...rest
}: FieldProps & { onText(text: string): void } & InputHTMLAttributes<HTMLInputElement>): ReactElement {
  return (
    <Field label={label} hint={hint}>
      {(ids) => <input {...ids} {...rest} onChange={({ target }) => onText(target.value)} />}
    </Field>
  );
}

/** A field with an input of several lines, in a fixed width. */
export function CodeField({
  label,
  hint,
  onText,
  ...rest
}: FieldProps & { onText(text: string): void } & TextareaHTMLAttributes<HTMLTextAreaElement>): ReactElement {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <textarea
          {...ids}
          className="code"
          spellCheck={false}
          {...rest}
          onChange={({ target }) => onText(target.value)}
        />
      )}
    </Field>
  );
}

interface ChoiceFieldProps extends FieldProps {
  readonly value: string;
  readonly choices: readonly (readonly [value: string, label: string])[];
  onText(value: string): void;
}

export function ChoiceField({ label, hint, value, choices, onText }: ChoiceFieldProps): ReactElement {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <select {...ids} value={value} onChange={({ target }) => onText(target.value)}>
          <Choices of={choices} />
        </select>
      )}
    </Field>
  );
}

export function Choices({ of }: { readonly of: ChoiceFieldProps['choices'] }): ReactElement {
  return (
    <>
      {of.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </>
  );
}
