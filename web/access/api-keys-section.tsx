/**
 * API keys of one user: listed, made and shown once, revoked.
 * Owns that the text of a new key stands on the page until somebody has taken it, and nowhere else.
 */
import { useCallback, useState, type ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { Field } from '../components/field.tsx';
import { Notice } from '../components/notice.tsx';
import { Table, type Column } from '../components/table.tsx';
import { When } from '../components/when.tsx';
import { usePolled } from '../data/use-polled.ts';
import { Listing } from '../lists/listing.tsx';
import { ONE_PAGE } from '../lists/one-page.ts';
import { useSession } from '../session/session.ts';
import { labelOf } from '../text/words.ts';
import { IssueDialog, type IssuedKey } from './issue-dialog.tsx';

type ApiKey = ResultOf<'list_keys'>[number];

const COLUMNS: readonly Column[] = [
  'Name',
  'Scope',
  'Created',
  'Last used',
  'Expires',
  { name: 'Actions', holds: 'buttons' },
];

export function ApiKeysSection(): ReactElement {
  const { client, user } = useSession();
  const isAdmin = user.role === 'admin';
  const [owner, setOwner] = useState(user.id);
  const [isIssuing, setIsIssuing] = useState(false);
  const [issued, setIssued] = useState<IssuedKey | null>(null);
  const [asked, setAsked] = useState<ApiKey | null>(null);
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const query = owner === user.id || owner === '' ? {} : { user_id: owner };
      return { items: await client.listKeys({ query }, { signal }), next_page_id: null };
    },
    [client, owner, user.id],
  );
  const polled = usePolled(ask);
  return (
    <section className="stack" aria-labelledby="api-keys">
      <div className="section-head">
        <h2 id="api-keys">API keys</h2>
        <Button kind="primary" onClick={() => setIsIssuing(true)}>
          Make a key
        </Button>
      </div>
      {isAdmin ? (
        <label className="inline">
          Of the user
          <input value={owner} onChange={({ target }) => setOwner(target.value.trim())} />
        </label>
      ) : null}
      {issued === null ? null : <Issued issued={issued} onTaken={() => setIssued(null)} />}
      <Listing label="API keys" polled={polled} state={ONE_PAGE} empty={<p>No key.</p>} none="No key.">
        {(rows) => (
          <Table columns={COLUMNS}>
            {rows.map((row) => (
              <Row key={row.id} row={row} onRevoke={() => setAsked(row)} />
            ))}
          </Table>
        )}
      </Listing>
      {isIssuing ? (
        <IssueDialog
          isAdmin={isAdmin}
          userId={owner === '' ? user.id : owner}
          onLeave={() => setIsIssuing(false)}
          onIssued={(key) => {
            setIssued(key);
            polled.again();
          }}
        />
      ) : null}
      {asked === null ? null : (
        <ConfirmDialog
          title="Revoke this key?"
          word="Revoke key"
          work={() => client.revokeKey({ params: { key_id: asked.id } })}
          onLeave={() => setAsked(null)}
          onDone={polled.again}
        >
          Whoever uses “{nameOf(asked)}” is refused from then on.
        </ConfirmDialog>
      )}
    </section>
  );
}

function nameOf({ name, id }: Pick<ApiKey, 'name' | 'id'>): string {
  return name ?? `key ${id}`;
}

function Row({ row, onRevoke }: { readonly row: ApiKey; onRevoke(): void }): ReactElement {
  const instant = (at: string | null, none: string): ReactElement =>
    at === null ? <span className="quiet">{none}</span> : <When at={at} />;
  return (
    <tr>
      <th scope="row">{nameOf(row)}</th>
      <td>{labelOf(row.scope)}</td>
      <td>
        <When at={row.created_at} />
      </td>
      <td>{instant(row.last_used_at, 'never')}</td>
      <td>{instant(row.expires_at, 'never')}</td>
      <td className="actions">
        <Button kind="quiet" aria-label={`Revoke ${nameOf(row)}`} onClick={onRevoke}>
          Revoke
        </Button>
      </td>
    </tr>
  );
}

function Issued({ issued, onTaken }: { readonly issued: IssuedKey; onTaken(): void }): ReactElement {
  return (
    <Notice tone="good">
      <div className="stack">
        <Field label="The new key" hint="It is shown this once. Keep it where nobody else reads it.">
          {(ids) => (
            <input
              {...ids}
              className="code"
              readOnly
              autoFocus
              value={issued.key}
              onFocus={({ target }) => target.select()}
            />
          )}
        </Field>
        <Button onClick={onTaken}>I have it</Button>
      </div>
    </Notice>
  );
}
