/**
 * Sandboxes as a table, with what is in each and what can be done to it.
 * Owns the columns.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import type { ImpactDialogProps } from '../components/impact-dialog.tsx';
import { Table, type Column } from '../components/table.tsx';
import { When } from '../components/when.tsx';
import { wordSort } from '../lists/word-sort.ts';
import { SelectCell } from '../lists/select-cell.tsx';
import type { Selection } from '../lists/use-selection.ts';
import { Link } from '../routing/link.tsx';

type Inside = ResultOf<'list_sandbox_conversations'>[number];

export type ListedSandbox = ResultOf<'search_sandboxes'>['items'][number] & {
  /** Absent where it is not known. */
  readonly inside: Inside | undefined;
};

export interface SandboxTableProps {
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
    { name: 'Actions', holds: 'buttons' },
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
  if (of === undefined || of.total === 0) return <span className="quiet">—</span>;
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
  const name = id.slice(0, 8);
  const isUp = urls !== null;
  return (
    <>
      {status === 'PAUSED' && !isUp ? (
        <Button kind="quiet" aria-label={`Resume ${name}`} onClick={() => onResume(id)}>
          Resume
        </Button>
      ) : null}
      {isUp ? (
        <Button
          kind="quiet"
          aria-label={`Stop ${name}`}
          onClick={() => onAsk({ sandboxId: id, kind: 'pause' })}
        >
          Stop
        </Button>
      ) : null}
      <Button
        kind="quiet"
        aria-label={`Delete ${name}`}
        onClick={() => onAsk({ sandboxId: id, kind: 'delete' })}
      >
        Delete
      </Button>
    </>
  );
}
