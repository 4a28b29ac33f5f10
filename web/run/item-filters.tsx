/**
 * What narrows the items of a run.
 * Owns the fields; the server looks through all items, however many there are.
 */
import type { ReactElement } from 'react';
import { FilterBar } from '../lists/filter-bar.tsx';
import { wordChoices, type FilterField } from '../lists/filter-field.ts';
import { labelOf } from '../text/words.ts';

export const NO_FILTER = { state: '', key: '', model: '', repository: '', tag: '' };
export type ItemFilter = typeof NO_FILTER;

const STATES = [
  ...[
    'succeeded',
    'failed',
    'check_failed',
    'limit_reached',
    'waiting',
    'cancelled',
    'skipped',
    'not_needed',
  ],
  ...['starting', 'working', 'verifying', 'collecting'],
] as const;
type State = (typeof STATES)[number];

/** As the server is asked. */
export function queryOf({ state, key, model, repository, tag }: ItemFilter) {
  return {
    ...(state === '' ? {} : { state: [state as State] }),
    ...(key === '' ? {} : { key__contains: key }),
    ...(model === '' ? {} : { model }),
    ...(repository === '' ? {} : { repository }),
    // Half a tag is no question yet.
    ...(/^[^=]+=/.test(tag) ? { tag: [tag] } : {}),
  };
}

export interface ItemFiltersProps {
  readonly filter: ItemFilter;
  onChange(filter: ItemFilter): void;
}

const FIELDS: readonly FilterField<keyof ItemFilter>[] = [
  {
    name: 'state',
    label: 'Outcome',
    kind: 'choice',
    choices: wordChoices('Every outcome', STATES, labelOf),
  },
  { name: 'key', label: 'Key contains', kind: 'text' },
  { name: 'model', label: 'Model', kind: 'text' },
  { name: 'repository', label: 'Repository (owner/name)', kind: 'text' },
  { name: 'tag', label: 'Tag (name=value)', kind: 'text' },
];

export function ItemFilters({ filter, onChange }: ItemFiltersProps): ReactElement {
  return (
    <FilterBar
      label="Items"
      fields={FIELDS}
      values={filter}
      onChange={(change) => onChange({ ...filter, ...change })}
    />
  );
}
