/**
 * All sandboxes of the user, newest first and live, with what can be done to each.
 * Owns the list; who would be met by a stop or deletion is asked first.
 */
import { useCallback, useState, type ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { ImpactDialog, type ImpactDialogProps } from '../components/impact-dialog.tsx';
import { Problems } from '../components/notice.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Table, type Column } from '../components/table.tsx';
import { When } from '../components/when.tsx';
import { useAction } from '../data/use-action.ts';
import { usePolled } from '../data/use-polled.ts';
import type { ConversationRecord } from '../conversation/conversation-table.tsx';
import { Link } from '../routing/link.tsx';
import { useSession } from '../session/session.ts';

type SandboxRecord = ResultOf<'search_sandboxes'>['items'][number];
type Asked = Pick<ImpactDialogProps, 'sandboxId' | 'kind'>;

export function SandboxesPage(): ReactElement {
  const { client } = useSession();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [isAll, setIsAll] = useState(false);
  const action = useAction();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const [sandboxes, conversations] = await Promise.all([
        client.searchSandboxes({}, { signal }),
        client.searchAppConversations({}, { signal }),
      ]);
      return { items: sandboxes.items, conversations: conversations.items };
    },
    [client],
  );
  const { value, problem, again } = usePolled(ask);
  const all = value?.items ?? [];
  const rows = isAll ? all : all.filter(({ status }) => status !== 'MISSING');
  const run = (work: () => Promise<unknown>): void => {
    void action.run(async () => {
      await work();
      again();
    });
  };
  return (
    <>
      <PageHead
        title="Sandboxes"
        actions={
          <Button kind="primary" busy={action.isBusy} onClick={() => run(() => client.createSandbox())}>
            Create a sandbox
          </Button>
        }
      >
        Where agents work: files, processes and credentials of one or more conversations.
      </PageHead>
      <Problems of={problem !== null && rows.length > 0 ? [problem, ...action.problems] : action.problems} />
      <div className="filters">
        <label className="inline">
          <input type="checkbox" checked={isAll} onChange={(event) => setIsAll(event.target.checked)} /> Show
          those that are gone
        </label>
      </div>
      {rows.length === 0 ? (
        <Empty isLoading={value === null} problem={problem}>
          <p>No sandbox. Starting a conversation makes one.</p>
        </Empty>
      ) : (
        <SandboxTable
          rows={rows}
          conversations={value?.conversations ?? []}
          onAsk={setAsked}
          onResume={(id) => run(() => client.resumeSandbox({ params: { sandbox_id: id } }))}
        />
      )}
      {asked === null ? null : (
        <ImpactDialog
          {...asked}
          onLeave={() => {
            setAsked(null);
            again();
          }}
        />
      )}
    </>
  );
}

interface TableProps {
  readonly rows: readonly SandboxRecord[];
  /** The newest ones, whichever sandbox they are in. */
  readonly conversations: readonly ConversationRecord[];
  onAsk(asked: Asked): void;
  onResume(id: string): void;
}

const COLUMNS: readonly Column[] = [
  'Sandbox',
  'Status',
  'Conversations',
  'Runtime',
  'Created',
  { name: 'Actions', holds: 'buttons' },
];

function SandboxTable({ rows, conversations, onAsk, onResume }: TableProps): ReactElement {
  return (
    <div className="scroll card">
      <Table columns={COLUMNS}>
        {rows.map((row) => (
          <tr key={row.id}>
            <th scope="row">
              <code title={row.id}>{row.id.slice(0, 8)}</code>
              {row.status_detail === null ? null : <div className="below">{row.status_detail}</div>}
            </th>
            <td>
              <Badge word={row.status} note={row.transition ?? row.pause_reason} />
              {row.stale ? <span className="tag">cannot be asked</span> : null}
            </td>
            <td>
              <Inside of={conversations.filter(({ sandbox_id: id }) => id === row.id)} />
            </td>
            <td>{row.sandbox_spec_id}</td>
            <td>
              <When at={row.created_at} />
            </td>
            <td className="actions">
              <RowActions row={row} onAsk={onAsk} onResume={onResume} />
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

/** More than these are counted. */
const NAMED_MAX = 3;

function Inside({ of }: { readonly of: readonly ConversationRecord[] }): ReactElement {
  if (of.length === 0) return <span className="quiet">—</span>;
  return (
    <ul>
      {of.slice(0, NAMED_MAX).map(({ id, title }) => (
        <li key={id}>
          <Link to={{ page: 'conversation', id }}>{title}</Link>
        </li>
      ))}
      {of.length > NAMED_MAX ? <li className="quiet">and {of.length - NAMED_MAX} more</li> : null}
    </ul>
  );
}

interface RowActionsProps extends Pick<TableProps, 'onAsk' | 'onResume'> {
  readonly row: SandboxRecord;
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
