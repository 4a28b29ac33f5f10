/**
 * Names and values, row by row: headers, secrets.
 * Owns the rows; what a name may be is checked by the API.
 */
import type { ReactElement, ReactNode } from 'react';
import type { NamedRow } from '../start/more-draft.ts';
import { Button } from './form.tsx';

interface NamedRowsProps {
  readonly legend: string;
  /** What one is called. */
  readonly noun: string;
  readonly add: string;
  readonly example?: string;
  /** A value is in no text of the page. */
  readonly isSecret?: boolean;
  readonly rows: readonly NamedRow[];
  readonly children?: ReactNode;
  onChange(rows: readonly NamedRow[]): void;
}

export function NamedRows(props: NamedRowsProps): ReactElement {
  const { legend, noun, add, example, isSecret = false, rows, children, onChange } = props;
  const change = (at: number, part: Partial<NamedRow>): void =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)));
  return (
    <fieldset>
      <legend>{legend}</legend>
      {children}
      {rows.map(({ name, value }, at) => (
        <div className="header-row" key={at}>
          <input
            aria-label={`Name of ${noun} ${at + 1}`}
            placeholder={example}
            spellCheck={false}
            autoComplete="off"
            value={name}
            onChange={({ target }) => change(at, { name: target.value })}
          />
          <input
            type={isSecret ? 'password' : 'text'}
            aria-label={`Value of ${noun} ${at + 1}`}
            spellCheck={false}
            autoComplete={isSecret ? 'new-password' : 'off'}
            value={value}
            onChange={({ target }) => change(at, { value: target.value })}
          />
          <Button
            kind="quiet"
            aria-label={`Remove ${noun} ${at + 1}`}
            onClick={() => onChange(rows.filter((_, index) => index !== at))}
          >
            Remove
          </Button>
        </div>
      ))}
      <Button onClick={() => onChange([...rows, { name: '', value: '' }])}>{add}</Button>
    </fieldset>
  );
}
