/**
 * What narrows a list: fields in a row, given as data.
 * Owns their looks and names for screen readers; the server does the narrowing.
 */
import type { ReactElement } from 'react';
import { Choices } from '../components/form.tsx';
import type { FilterField } from './filter-field.ts';

interface FilterBarProps<Name extends string> {
  /** What is narrowed. */
  readonly label: string;
  readonly fields: readonly FilterField<Name>[];
  readonly values: Readonly<Record<Name, string>>;
  onChange(change: Partial<Record<Name, string>>): void;
}

export function FilterBar<Name extends string>(props: FilterBarProps<Name>): ReactElement {
  const { label, fields, values, onChange } = props;
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
          <Choices of={field.choices} />
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
