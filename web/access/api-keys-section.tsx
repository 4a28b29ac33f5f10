/**
 * API keys of one user: listed, made and shown once, revoked.
 * Owns that the text of a new key stands on the page until the user has taken it, and nowhere else.
 */
import { type ReactElement, useState } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { ConfirmDialog, FormDialog } from '../components/dialog.tsx';
import { Button, TextField, ChoiceField } from '../components/form.tsx';
import { Notice, When } from '../components/parts.tsx';
import { buttons, type Column, head, text } from '../components/table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { beginOf } from '../lists/filter-field.ts';
import { Listing } from '../lists/listing.tsx';
import { useSession } from '../session/session.ts';
import { labelOf } from '../text/words.ts';

type ApiKey = ResultOf<'list_keys'>[number];

const instant = (at: string | null): ReactElement =>
  at === null ? <span className="quiet">never</span> : <When at={at} />;

const COLUMNS: readonly Column<ApiKey>[] = [
  head('Name', (row) => nameOf(row)),
  text('Scope', ({ scope }) => labelOf(scope)),
  text('Created', (row) => instant(row.created_at)),
  text('Last used', (row) => instant(row.last_used_at)),
  text('Expires', (row) => instant(row.expires_at)),
];

export function ApiKeysSection(): ReactElement {
  const { client, user } = useSession();
  const isAdmin = user.role === 'admin';
  const [owner, setOwner] = useState(user.id);
  const [isIssuing, setIsIssuing] = useState(false);
  const [issued, setIssued] = useState<IssuedKey | null>(null);
  const [asked, setAsked] = useState<ApiKey | null>(null);
  const query = owner === user.id || owner === '' ? {} : { user_id: owner };
  const polled = useAnswer('listKeys', { query });
  const revoke = buttons((row: ApiKey) => (
    <Button kind="quiet" aria-label={`Revoke ${nameOf(row)}`} onClick={() => setAsked(row)}>
      Revoke
    </Button>
  ));
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
      <Listing
        label="API keys"
        polled={{ ...polled, value: polled.value === null ? null : { items: polled.value } }}
        empty={<p>No key.</p>}
        columns={[...COLUMNS, revoke]}
        keyOf={({ id }) => id}
      />
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
          <p>Whoever uses “{nameOf(asked)}” is refused from then on.</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

function nameOf({ name, id }: Pick<ApiKey, 'name' | 'id'>): string {
  return name ?? `key ${id}`;
}

function Issued({ issued, onTaken }: { readonly issued: IssuedKey; onTaken(): void }): ReactElement {
  return (
    <Notice tone="good">
      <div className="stack">
        <TextField
          label="The new key"
          hint="It is shown this once. Keep it where nobody else reads it."
          className="code"
          readOnly
          autoFocus
          value={issued.key}
          onText={() => undefined}
          onFocus={({ target }) => target.select()}
        />
        <Button onClick={onTaken}>I have it</Button>
      </div>
    </Notice>
  );
}

/** Making an API key. */
type IssuedKey = ResultOf<'issue_key'>;

interface IssueDialogProps {
  readonly isAdmin: boolean;
  /** Whose it becomes. */
  readonly userId: string;
  onLeave(): void;
  onIssued(key: IssuedKey): void;
}

function IssueDialog({ isAdmin, userId, onLeave, onIssued }: IssueDialogProps): ReactElement {
  const { client } = useSession();
  const [draft, setDraft] = useState({ name: '', scope: 'user', until: '' });
  const set = (change: Partial<typeof draft>): void => setDraft({ ...draft, ...change });
  const issue = async (): Promise<void> => {
    const { name, scope, until } = draft;
    const body = {
      ...(name.trim() === '' ? {} : { name: name.trim() }),
      scope: scope === 'admin' ? ('admin' as const) : ('user' as const),
      ...(isAdmin ? { user_id: userId } : {}),
      expires_at: beginOf(until, 1),
    };
    onIssued(await client.issueKey({ body }));
  };
  return (
    <FormDialog title={`Make a key for ${userId}`} word="Make the key" work={issue} onLeave={onLeave}>
      <TextField
        label="Name"
        hint="What it is for; it stands in the audit log with what it does."
        autoFocus
        maxLength={200}
        value={draft.name}
        onText={(name) => set({ name })}
      />
      {isAdmin ? (
        <ChoiceField
          label="Scope"
          hint="An administrator sees and changes what is everybody's."
          value={draft.scope}
          choices={SCOPES}
          onText={(scope) => set({ scope })}
        />
      ) : null}
      <TextField
        label="Last day"
        hint="Empty: it never expires."
        type="date"
        value={draft.until}
        onText={(until) => set({ until })}
      />
    </FormDialog>
  );
}

const SCOPES = [
  ['user', 'User'],
  ['admin', 'Administrator'],
] as const;
