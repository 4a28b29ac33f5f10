/**
 * What narrows the items of a run.
 * Owns the fields; the server looks through all items, however many there are.
 */
import type { ReactElement } from 'react';
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

export function ItemFilters({ filter, onChange }: ItemFiltersProps): ReactElement {
  const field = (name: keyof ItemFilter, label: string): ReactElement => (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={filter[name]}
      onChange={({ target }) => onChange({ ...filter, [name]: target.value })}
    />
  );
  return (
    <div className="filters filter-row" role="search" aria-label="Items">
      <select
        aria-label="Outcome"
        value={filter.state}
        onChange={({ target }) => onChange({ ...filter, state: target.value })}
      >
        <option value="">Every outcome</option>
        {STATES.map((state) => (
          <option key={state} value={state}>
            {labelOf(state)}
          </option>
        ))}
      </select>
      {field('key', 'Key contains')}
      {field('model', 'Model')}
      {field('repository', 'Repository (owner/name)')}
      {field('tag', 'Tag (name=value)')}
    </div>
  );
}
