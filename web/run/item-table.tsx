/**
 * The items of a run as a table.
 * Owns the columns.
 */
import type { ReactElement } from 'react';
import { Badge } from '../components/badge.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Link } from '../routing/link.tsx';
import { usdOfNano } from '../text/money.ts';
import { troubleText } from './run-phase.ts';
import type { RunItem } from './run-types.ts';

export interface ItemTableProps {
  readonly items: readonly RunItem[];
  readonly hasMore: boolean;
}

const COLUMNS: readonly Column[] = [
  'Item',
  'Phase',
  'Agent',
  'Sandbox',
  { name: 'Attempt', holds: 'figures' },
  { name: 'Cost', holds: 'figures' },
  'Conversation',
];

export function ItemTable({ items, hasMore }: ItemTableProps): ReactElement {
  return (
    <section aria-label="Items">
      <h2>Items</h2>
      <div className="scroll card">
        <Table columns={COLUMNS}>
          {items.map((item) => (
            <Row key={item.key} item={item} />
          ))}
        </Table>
      </div>
      {hasMore ? <p className="quiet">The first {items.length} items are shown.</p> : null}
    </section>
  );
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

function Row({ item }: { readonly item: RunItem }): ReactElement {
  const dash = <span className="quiet">—</span>;
  return (
    <tr>
      <th scope="row">
        {item.key}
        {item.detail === null ? null : <div className="below">{item.detail}</div>}
        {item.trouble === null ? null : <div className="below">{troubleText(item.trouble)}</div>}
        {item.scores.length === 0 ? null : <Scores scores={item.scores} />}
      </th>
      <td>
        <Badge word={item.outcome ?? item.phase} note={item.failure_class} />
      </td>
      <td>{item.execution_status === null ? dash : <Badge word={item.execution_status} />}</td>
      <td>{item.sandbox_status === null ? dash : <Badge word={item.sandbox_status} />}</td>
      <td className="number">{item.attempt}</td>
      <td className="number">{item.cost_nano_usd === null ? '—' : usdOfNano(item.cost_nano_usd)}</td>
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
  );
}
