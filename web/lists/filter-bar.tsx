/**
 * What narrows a list: fields in a row, given as data.
 * Owns their looks and names for screen readers; the server does the narrowing.
 */
import type { ReactElement } from 'react';

export type FilterField<Name extends string> = {
  readonly name: Name;
  readonly label: string;
} & (
  | { readonly kind: 'text' }
  /** A day of the reader's zone. */
  | { readonly kind: 'day' }
  | {
      readonly kind: 'choice';
      readonly choices: readonly (readonly [value: string, label: string])[];
    }
);

export interface FilterBarProps<Name extends string> {
  /** What is narrowed. */
  readonly label: string;
  readonly fields: readonly FilterField<Name>[];
  readonly values: Readonly<Record<Name, string>>;
  onChange(change: Partial<Record<Name, string>>): void;
}

export function FilterBar<Name extends string>({
  label,
  fields,
  values,
  onChange,
}: FilterBarProps<Name>): ReactElement {
  return (
    <div className="filters filter-row" role="search" aria-label={label}>
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={values[field.name]}
          onChange={(value) => onChange({ [field.name]: value } as Partial<Record<Name, string>>)}
        />
      ))}
    </div>
  );
}

interface FieldProps<Name extends string> {
  readonly field: FilterField<Name>;
  readonly value: string;
  onChange(value: string): void;
}

function Field<Name extends string>({ field, value, onChange }: FieldProps<Name>): ReactElement {
  const { label } = field;
  switch (field.kind) {
    case 'choice':
      return (
        <select aria-label={label} value={value} onChange={({ target }) => onChange(target.value)}>
          {field.choices.map(([one, words]) => (
            <option key={one} value={one}>
              {words}
            </option>
          ))}
        </select>
      );
    case 'day':
      return (
        <label className="filter-day">
          <span>{label}</span>
          <input type="date" value={value} onChange={({ target }) => onChange(target.value)} />
        </label>
      );
    case 'text':
      return (
        <input
          type="search"
          aria-label={label}
          placeholder={label}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      );
  }
}

/** As choices of a field, behind one for all of them. */
export function wordChoices(
  all: string,
  words: readonly string[],
  labelOf: (word: string) => string,
): readonly (readonly [string, string])[] {
  return [['', all], ...words.map((word) => [word, labelOf(word)] as const)];
}

/** Where a day of the reader's zone begins, as an instant; null for a text that is no day. */
export function beginOf(day: string, daysLater = 0): string | null {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day);
  if (found === null) return null;
  const at = new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]) + daysLater);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
