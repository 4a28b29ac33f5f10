/**
 * Sandboxes as a table, with what is in each and what can be done to it.
 * Owns the columns.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Button } from '../components/form.tsx';
import type { ImpactDialogProps } from '../components/impact-dialog.tsx';
import { Badge, Dash, When } from '../components/parts.tsx';
import { ACTIONS, type Column, Table } from '../components/table.tsx';
import { SelectCell, type Selection } from '../lists/selection.tsx';
import { wordSort } from '../lists/word-sort.ts';
import { Link } from '../routing/link.tsx';

type Inside = ResultOf<'list_sandbox_conversations'>[number];

export type ListedSandbox = ResultOf<'search_sandboxes'>['items'][number] & {
  /** Absent where it is not known. */
  readonly inside: Inside | undefined;
};

interface SandboxTableProps {
  readonly rows: readonly ListedSandbox[];
  readonly selection: Selection;
  readonly sort: string;
  onSort(sort: string): void;
  onAsk(asked: Pick<ImpactDialogProps, 'sandboxId' | 'kind'>): void;
  onResume(id: string): void;
}

export function SandboxTable(props: SandboxTableProps): ReactElement {
  const { rows, selection, sort, onSort } = props;
  const columns: readonly Column[] = [
    { name: 'Selected', holds: 'buttons' },
    'Sandbox',
    'Status',
    'Conversations',
    'Runtime',
    { name: 'Created', holds: 'texts', sort: wordSort(sort, 'CREATED_AT', onSort) },
    ACTIONS,
  ];
  return (
    <Table columns={columns}>
      {rows.map((row) => (
        <tr key={row.id}>
          <SelectCell row={{ id: row.id, name: row.id.slice(0, 8) }} selection={selection} />
          <th scope="row">
            <code title={row.id}>{row.id.slice(0, 8)}</code>
            {row.status_detail === null ? null : <div className="below">{row.status_detail}</div>}
          </th>
          <td>
            <Badge word={row.status} note={row.transition ?? row.pause_reason} />
            {row.stale ? <span className="tag">cannot be asked</span> : null}
          </td>
          <td>
            <Conversations of={row.inside} />
          </td>
          <td>{row.sandbox_spec_id}</td>
          <td>
            <When at={row.created_at} />
          </td>
          <td className="actions">
            <RowActions row={row} onAsk={props.onAsk} onResume={props.onResume} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Conversations({ of }: { readonly of: Inside | undefined }): ReactElement {
  if (of === undefined || of.total === 0) return <Dash />;
  const more = of.total - of.conversations.length;
  return (
    <ul>
      {of.conversations.map(({ id, title }) => (
        <li key={id}>
          <Link to={{ page: 'conversation', id }}>{title}</Link>
        </li>
      ))}
      {more > 0 ? <li className="quiet">and {more} more</li> : null}
    </ul>
  );
}

interface RowActionsProps extends Pick<SandboxTableProps, 'onAsk' | 'onResume'> {
  readonly row: ListedSandbox;
}

function RowActions({ row, onAsk, onResume }: RowActionsProps): ReactElement | null {
  const { id, status, exposed_urls: urls } = row;
  if (status === 'MISSING') return null;
  const isUp = urls !== null;
  const button = (word: string, onClick: () => void): ReactElement => (
    <Button kind="quiet" aria-label={`${word} ${id.slice(0, 8)}`} onClick={onClick}>
      {word}
    </Button>
  );
  return (
    <>
      {status === 'PAUSED' && !isUp ? button('Resume', () => onResume(id)) : null}
      {isUp ? button('Stop', () => onAsk({ sandboxId: id, kind: 'pause' })) : null}
      {button('Delete', () => onAsk({ sandboxId: id, kind: 'delete' }))}
    </>
  );
}
