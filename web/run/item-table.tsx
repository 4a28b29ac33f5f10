/**
 * Items of a run as a table; each opens to what there is to see of its work.
 * Owns the columns and which item is open.
 */
import { type ReactElement, useState } from 'react';
import { Badge, Dash, Tags } from '../components/parts.tsx';
import { type Column, Table } from '../components/table.tsx';
import { Link } from '../routing/link.tsx';
import { usdOfNano } from '../text/money.ts';
import { tagsOf } from '../text/tags.ts';
import { durationBetween } from '../text/time.ts';
import { ItemEvidence } from './item-evidence.tsx';
import { troubleText, type RunItem, type RunRecord } from './run-phase.ts';

export type SortBy = 'POSITION' | 'COST' | 'TIME' | 'OUTCOME' | 'MODEL' | 'REPOSITORY' | 'KEY';

export interface ItemSort {
  readonly by: SortBy;
  readonly descending: boolean;
}

interface ItemTableProps {
  readonly run: RunRecord;
  readonly items: readonly RunItem[];
  readonly sort: ItemSort;
  onSort(sort: ItemSort): void;
  onChange(): void;
}

const HEADS: readonly (readonly [name: string, by: SortBy | null, holds: 'texts' | 'figures'])[] = [
  ['Item', 'KEY', 'texts'],
  ['Outcome', 'OUTCOME', 'texts'],
  ['Model', 'MODEL', 'texts'],
  ['Repository', 'REPOSITORY', 'texts'],
  ['Attempt', null, 'figures'],
  ['Cost', 'COST', 'figures'],
  ['Time', 'TIME', 'figures'],
  ['Conversation', null, 'texts'],
];

export function ItemTable({ run, items, sort, onSort, onChange }: ItemTableProps): ReactElement {
  const [open, setOpen] = useState<string | null>(null);
  const columns = HEADS.map(([name, by, holds]): Column => {
    if (by === null) return { name, holds };
    const is = sort.by !== by ? null : sort.descending ? 'descending' : 'ascending';
    // A third click has the order of the plan again.
    const next: ItemSort =
      is === 'descending' ? { by: 'POSITION', descending: false } : { by, descending: is === 'ascending' };
    return { name, holds, sort: { is, onSort: () => onSort(next) } };
  });
  return (
    <Table columns={columns}>
      {items.map((item) => (
        <Row
          key={item.key}
          run={run}
          item={item}
          isOpen={open === item.key}
          onOpen={() => setOpen(open === item.key ? null : item.key)}
          onChange={onChange}
        />
      ))}
    </Table>
  );
}

interface RowProps {
  readonly run: RunRecord;
  readonly item: RunItem;
  readonly isOpen: boolean;
  onOpen(): void;
  onChange(): void;
}

function Row({ run, item, isOpen, onOpen, onChange }: RowProps): ReactElement {
  const dash = <Dash />;
  return (
    <>
      <tr>
        <th scope="row">
          <button type="button" className="sort" aria-expanded={isOpen} onClick={onOpen}>
            <span aria-hidden="true">{isOpen ? '▾ ' : '▸ '}</span>
            {item.key}
          </button>
          <Below item={item} />
        </th>
        <td>
          <Badge word={item.outcome ?? item.phase} note={item.failure_class} />
        </td>
        <td>{item.model ?? dash}</td>
        <td>{item.repository ?? dash}</td>
        <td className="number">{item.attempt}</td>
        <td className="number">{item.cost_nano_usd === null ? '—' : usdOfNano(item.cost_nano_usd)}</td>
        <td className="number">{timeOf(item)}</td>
        <td>
          {item.conversation_id === null ? (
            dash
          ) : (
            <Link to={{ page: 'conversation', id: item.conversation_id }}>
              <code>{item.conversation_id.slice(0, 8)}</code>
            </Link>
          )}
        </td>
      </tr>
      {isOpen ? (
        <tr>
          <td colSpan={HEADS.length}>
            <ItemEvidence run={run} item={item} onChange={onChange} />
          </td>
        </tr>
      ) : null}
    </>
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
