/**
 * A button.
 * Owns its looks and "busy": one that is at work takes no second click, and says so.
 */
import type { ButtonHTMLAttributes, ReactElement } from 'react';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  readonly busy?: boolean;
}

export function Button({
  kind = 'plain',
  busy = false,
  type = 'button',
  ...rest
}: ButtonProps): ReactElement {
  const { className = '', disabled = false } = rest;
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
