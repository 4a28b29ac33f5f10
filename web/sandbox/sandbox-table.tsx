/**
 * Sandboxes as a table, with what is in each and what can be done to it.
 * Owns the columns.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Button } from '../components/form.tsx';
import type { ImpactDialogProps } from '../components/impact-dialog.tsx';
import { Badge, Dash, When } from '../components/parts.tsx';
import { buttons, type Column, head, text } from '../components/table.tsx';
import { selected, type Selection } from '../lists/selection.tsx';
import { wordSort } from '../lists/word-sort.ts';
import { Link } from '../routing/link.tsx';

type Inside = ResultOf<'list_sandbox_conversations'>[number];

export type ListedSandbox = ResultOf<'search_sandboxes'>['items'][number] & {
  /** Absent where it is not known. */
  readonly inside: Inside | undefined;
};

interface SandboxColumns {
  readonly selection: Selection;
  readonly sort: string;
  onSort(sort: string): void;
  onAsk(asked: Pick<ImpactDialogProps, 'sandboxId' | 'kind'>): void;
  onResume(id: string): void;
}

export function sandboxColumns(given: SandboxColumns): readonly Column<ListedSandbox>[] {
  const created = text('Created', (row: ListedSandbox) => <When at={row.created_at} />);
  return [
    selected(given.selection, ({ id }) => id.slice(0, 8)),
    ...SHOWN,
    { ...created, sort: wordSort(given.sort, 'CREATED_AT', given.onSort) },
    buttons((row) => <RowActions row={row} onAsk={given.onAsk} onResume={given.onResume} />),
  ];
}

const SHOWN: readonly Column<ListedSandbox>[] = [
  head('Sandbox', ({ id, status_detail: detail }) => (
    <>
      <code title={id}>{id.slice(0, 8)}</code>
      {detail === null ? null : <div className="below">{detail}</div>}
    </>
  )),
  text('Status', (row) => (
    <>
      <Badge word={row.status} note={row.transition ?? row.pause_reason} />
      {row.stale ? <span className="tag">cannot be asked</span> : null}
    </>
  )),
  text('Conversations', ({ inside }) => <Conversations of={inside} />),
  text('Runtime', (row) => row.sandbox_spec_id),
];

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

interface RowActionsProps extends Pick<SandboxColumns, 'onAsk' | 'onResume'> {
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
