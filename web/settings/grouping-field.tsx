/**
 * The field Sandbox Grouping Strategy (spec "Placement").
 * Owns its labels and what each means.
 */
import type { ReactElement } from 'react';
import { Field } from '../components/field.tsx';
import { GROUPING_HINTS, GROUPING_LABELS } from '../text/words.ts';

export type Strategy = keyof typeof GROUPING_LABELS;

export interface GroupingFieldProps {
  readonly value: Strategy;
  onChange(strategy: Strategy): void;
}

const STRATEGIES = Object.keys(GROUPING_LABELS) as readonly Strategy[];

export function GroupingField({ value, onChange }: GroupingFieldProps): ReactElement {
  return (
    <Field
      label="Sandbox Grouping Strategy"
      hint={`${GROUPING_HINTS[value]} A sandbox that is named at the start wins over this.`}
    >
      {(ids) => (
        <select {...ids} value={value} onChange={(event) => onChange(event.target.value as Strategy)}>
          {STRATEGIES.map((strategy) => (
            <option key={strategy} value={strategy}>
              {GROUPING_LABELS[strategy]}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
