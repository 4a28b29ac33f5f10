/**
 * The items of a run as a table.
 * Owns the columns.
 */
import type { ReactElement } from 'react';
import { Badge } from '../components/badge.tsx';
import { Link } from '../routing/link.tsx';
import { usdOfNano } from '../text/money.ts';
import type { RunItem } from './run-types.ts';

export interface ItemTableProps {
  readonly items: readonly RunItem[];
  readonly hasMore: boolean;
}

export function ItemTable({ items, hasMore }: ItemTableProps): ReactElement {
  return (
    <section aria-label="Items">
      <h2>Items</h2>
      <div className="scroll card">
        <table>
          <thead>
            <tr>
              <th scope="col">Item</th>
              <th scope="col">Phase</th>
              <th scope="col">Agent</th>
              <th scope="col">Sandbox</th>
              <th scope="col" className="number">
                Attempt
              </th>
              <th scope="col" className="number">
                Cost
              </th>
              <th scope="col">Conversation</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <Row key={item.key} item={item} />
            ))}
          </tbody>
        </table>
      </div>
      {hasMore ? <p className="quiet">The first {items.length} items are shown.</p> : null}
    </section>
  );
}

function Row({ item }: { readonly item: RunItem }): ReactElement {
  const dash = <span className="quiet">—</span>;
  return (
    <tr>
      <th scope="row">
        {item.key}
        {item.detail === null ? null : <div className="below">{item.detail}</div>}
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
