/**
 * Extra Headers: names and values, row by row.
 * Owns the rows and their way to an object; what a header may be is checked by the API.
 */
import type { ReactElement } from 'react';
import { Button } from '../components/button.tsx';

export interface HeaderRow {
  readonly name: string;
  readonly value: string;
}

export interface HeaderRowsProps {
  readonly rows: readonly HeaderRow[];
  onChange(rows: readonly HeaderRow[]): void;
}

export function HeaderRows({ rows, onChange }: HeaderRowsProps): ReactElement {
  const change = (at: number, part: Partial<HeaderRow>): void =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)));
  return (
    <fieldset>
      <legend>Extra Headers</legend>
      {rows.map((row, at) => (
        <div className="header-row" key={at}>
          <input
            aria-label={`Name of header ${at + 1}`}
            placeholder="x-team"
            spellCheck={false}
            value={row.name}
            onChange={(event) => change(at, { name: event.target.value })}
          />
          <input
            aria-label={`Value of header ${at + 1}`}
            spellCheck={false}
            value={row.value}
            onChange={(event) => change(at, { value: event.target.value })}
          />
          <Button
            kind="quiet"
            aria-label={`Remove header ${at + 1}`}
            onClick={() => onChange(rows.filter((_, index) => index !== at))}
          >
            Remove
          </Button>
        </div>
      ))}
      <Button onClick={() => onChange([...rows, { name: '', value: '' }])}>Add header</Button>
    </fieldset>
  );
}

export function rowsOf(headers: Readonly<Record<string, string>>): readonly HeaderRow[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}

/** Rows without a name are none. */
export function headersOf(rows: readonly HeaderRow[]): Record<string, string> {
  return Object.fromEntries(
    rows.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]),
  );
}
