/**
 * Conversations as a table.
 * Owns the columns.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Badge } from '../components/badge.tsx';
import { Table, type Column } from '../components/table.tsx';
import { When } from '../components/when.tsx';
import { Link } from '../routing/link.tsx';
import { usd } from '../text/money.ts';

export type ConversationRecord = ResultOf<'search_app_conversations'>['items'][number];

const COLUMNS: readonly Column[] = [
  'Title',
  'Agent',
  'Sandbox',
  'Model',
  { name: 'Spend', holds: 'figures' },
  'Updated',
];

export function ConversationTable({ rows }: { readonly rows: readonly ConversationRecord[] }): ReactElement {
  return (
    <div className="scroll card">
      <Table columns={COLUMNS}>
        {rows.map((row) => (
          <Row key={row.id} row={row} />
        ))}
      </Table>
    </div>
  );
}

function Row({ row }: { readonly row: ConversationRecord }): ReactElement {
  const agent = row.start_task_status === 'READY' ? row.execution_status : row.start_task_status;
  return (
    <tr>
      <th scope="row">
        <Link to={{ page: 'conversation', id: row.id }}>{row.title}</Link>
        <Below row={row} />
      </th>
      <td>{agent === null ? <span className="quiet">—</span> : <Badge word={agent} />}</td>
      <td>
        <Badge word={row.sandbox_status} note={row.transition ?? row.pause_reason} />
        {row.sandbox_id === null ? null : <code className="below">{row.sandbox_id.slice(0, 8)}</code>}
      </td>
      <td>{row.llm_model ?? <span className="quiet">default</span>}</td>
      <td className="number">{row.metrics === null ? '—' : usd(row.metrics.accumulated_cost)}</td>
      <td>
        <When at={row.updated_at} />
      </td>
    </tr>
  );
}

function Below({ row }: { readonly row: ConversationRecord }): ReactElement | null {
  const tags = Object.entries(row.tags);
  if (row.selected_repository === null && tags.length === 0) return null;
  return (
    <div className="below">
      {row.selected_repository === null ? null : <span>{row.selected_repository}</span>}
      {tags.map(([key, value]) => (
        <span key={key} className="tag">
          {key}={value}
        </span>
      ))}
    </div>
  );
}
