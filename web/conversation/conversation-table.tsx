/**
 * Conversations as a table.
 * Owns the columns.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Badge, Dash, Tags, When } from '../components/parts.tsx';
import { type Column, figures, Table } from '../components/table.tsx';
import { SelectCell, type Selection } from '../lists/selection.tsx';
import { wordSort } from '../lists/word-sort.ts';
import { Link } from '../routing/link.tsx';
import { usd } from '../text/money.ts';
import { tagsOf } from '../text/tags.ts';

export type ConversationRecord = ResultOf<'search_app_conversations'>['items'][number];

/** What every view of one conversation is handed; the views are loaded by whoever chooses among them. */
export interface ViewProps {
  readonly record: ConversationRecord;
}

interface ConversationTableProps {
  readonly rows: readonly ConversationRecord[];
  readonly selection: Selection;
  /** A word of the API. */
  readonly sort: string;
  onSort(sort: string): void;
}

export function ConversationTable({ rows, selection, sort, onSort }: ConversationTableProps): ReactElement {
  const sorted = (name: string, by: string): Column => ({
    ...{ name, holds: 'texts', sort: wordSort(sort, by, onSort) },
  });
  const columns: readonly Column[] = [
    { name: 'Selected', holds: 'buttons' },
    sorted('Title', 'TITLE'),
    'Agent',
    'Sandbox',
    'Model',
    figures('Spend'),
    sorted('Updated', 'UPDATED_AT'),
    sorted('Created', 'CREATED_AT'),
  ];
  return (
    <Table columns={columns}>
      {rows.map((row) => (
        <Row key={row.id} row={row} selection={selection} />
      ))}
    </Table>
  );
}

interface RowProps {
  readonly row: ConversationRecord;
  readonly selection: Selection;
}

function Row({ row, selection }: RowProps): ReactElement {
  const agent = row.start_task_status === 'READY' ? row.execution_status : row.start_task_status;
  return (
    <tr>
      <SelectCell row={{ id: row.id, name: row.title }} selection={selection} />
      <th scope="row">
        <Link to={{ page: 'conversation', id: row.id }}>{row.title}</Link>
        <Below row={row} />
      </th>
      <td>{agent === null ? <Dash /> : <Badge word={agent} />}</td>
      <td>
        <Badge word={row.sandbox_status} note={row.transition ?? row.pause_reason} />
        {row.sandbox_id === null ? null : <code className="below">{row.sandbox_id.slice(0, 8)}</code>}
      </td>
      <td>{row.llm_model ?? <span className="quiet">default</span>}</td>
      <td className="number">{row.metrics === null ? '—' : usd(row.metrics.accumulated_cost)}</td>
      <td>
        <When at={row.updated_at} />
      </td>
      <td>
        <When at={row.created_at} />
      </td>
    </tr>
  );
}

function Below({ row }: { readonly row: ConversationRecord }): ReactElement | null {
  const tags = tagsOf(row.tags);
  const { selected_repository: repository, selected_branch: branch } = row;
  if (repository === null && tags.length === 0) return null;
  return (
    <div className="below">
      {repository === null ? null : <span>{branch === null ? repository : `${repository} @ ${branch}`}</span>}
      <Tags of={tags} />
    </div>
  );
}
