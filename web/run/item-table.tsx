/**
 * Items of a run as a table; each opens to what there is to see of its work.
 * Owns the columns.
 */
import type { ReactElement } from 'react';
import { Badge, Dash, Tags } from '../components/parts.tsx';
import { type Column, figures, head, text } from '../components/table.tsx';
import { Link } from '../routing/link.tsx';
import { usdOfNano } from '../text/money.ts';
import { tagsOf } from '../text/tags.ts';
import { durationBetween } from '../text/time.ts';
import { troubleText, type RunItem } from './run-phase.ts';

export type SortBy = 'POSITION' | 'COST' | 'TIME' | 'OUTCOME' | 'MODEL' | 'REPOSITORY' | 'KEY';

export interface ItemSort {
  readonly by: SortBy;
  readonly descending: boolean;
}

const SHOWN: readonly (readonly [column: Column<RunItem>, by: SortBy | null])[] = [
  [
    text('Outcome', (item) => <Badge word={item.outcome ?? item.phase} note={item.failure_class} />),
    'OUTCOME',
  ],
  [text('Model', ({ model }) => model ?? <Dash />), 'MODEL'],
  [text('Repository', ({ repository }) => repository ?? <Dash />), 'REPOSITORY'],
  [figures('Attempt', ({ attempt }) => attempt), null],
  [figures('Cost', ({ cost_nano_usd: cost }) => (cost === null ? '—' : usdOfNano(cost))), 'COST'],
  [figures('Time', timeOf), 'TIME'],
  [text('Conversation', ({ conversation_id: id }) => <Conversation id={id} />), null],
];

interface ItemColumns {
  readonly sort: ItemSort;
  /** The key of the item that is open; null: none is. */
  readonly open: string | null;
  onSort(sort: ItemSort): void;
  onOpen(key: string | null): void;
}

export function itemColumns({ sort, open, onSort, onOpen }: ItemColumns): readonly Column<RunItem>[] {
  const item = head('Item', (row: RunItem) => {
    const isOpen = row.key === open;
    return (
      <>
        <button
          type="button"
          className="sort"
          aria-expanded={isOpen}
          onClick={() => onOpen(isOpen ? null : row.key)}
        >
          <span aria-hidden="true">{isOpen ? '▾ ' : '▸ '}</span>
          {row.key}
        </button>
        <Below item={row} />
      </>
    );
  });
  return [[item, 'KEY'] as const, ...SHOWN].map(([column, by]) => {
    if (by === null) return column;
    const is = sort.by !== by ? null : sort.descending ? 'descending' : 'ascending';
    // A third click has the order of the plan again.
    const next: ItemSort =
      is === 'descending' ? { by: 'POSITION', descending: false } : { by, descending: is === 'ascending' };
    return { ...column, sort: { is, onSort: () => onSort(next) } };
  });
}

function Conversation({ id }: { readonly id: string | null }): ReactElement {
  if (id === null) return <Dash />;
  return (
    <Link to={{ page: 'conversation', id }}>
      <code>{id.slice(0, 8)}</code>
    </Link>
  );
}

function Below({ item }: { readonly item: RunItem }): ReactElement {
  const tags = tagsOf(item.tags);
  return (
    <>
      {item.detail === null ? null : <div className="below">{item.detail}</div>}
      {item.trouble === null ? null : <div className="below">{troubleText(item.trouble)}</div>}
      {item.scores.length === 0 ? null : <Scores scores={item.scores} />}
      {tags.length === 0 ? null : (
        <div className="below">
          <Tags of={tags} />
        </div>
      )}
    </>
  );
}

function timeOf({ admitted_at: from, ended_at: until }: RunItem): string {
  return from === null ? '—' : durationBetween(from, until);
}

function Scores({ scores }: Pick<RunItem, 'scores'>): ReactElement {
  return (
    <ul className="scores below" aria-label="Scores">
      {scores.map(({ name, value, problem }) => (
        <li key={name}>
          {name} <strong>{value ?? 'none'}</strong>
          {problem === null ? null : ` — ${problem}`}
        </li>
      ))}
    </ul>
  );
}
