/**
 * Stored secrets of the user: names and descriptions; a value goes in and never comes out.
 * Owns the list; who has a secret already keeps it.
 */
import { type ReactElement, useState } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { SecretDialog } from '../access/secret-dialog.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { Button } from '../components/form.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Dash } from '../components/parts.tsx';
import { buttons, head, text } from '../components/table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import type { FilterField } from '../lists/filter-field.ts';
import { FilteredListing } from '../lists/listing.tsx';
import { pageQuery, useListState } from '../lists/use-list-state.ts';
import { useSession } from '../session/session.ts';

type Secret = ResultOf<'search_secrets'>['items'][number];

const FIRST = { name: '' };
const FIELDS: readonly FilterField<'name'>[] = [{ name: 'name', label: 'Name contains', kind: 'text' }];

type Asked =
  { readonly kind: 'new' } | { readonly kind: 'replace' | 'describe' | 'delete'; readonly secret: Secret };

export function SecretsPage(): ReactElement {
  const { client } = useSession();
  const state = useListState(FIRST);
  const [asked, setAsked] = useState<Asked | null>(null);
  const { name } = state.filter;
  const query = { ...pageQuery(state.pageId), ...(name === '' ? {} : { name__contains: name }) };
  const polled = useAnswer('searchSecrets', { query });
  const leave = (): void => setAsked(null);
  const button = (kind: 'replace' | 'describe' | 'delete', word: string, secret: Secret): ReactElement => (
    <Button kind="quiet" aria-label={`${word} ${secret.name}`} onClick={() => setAsked({ kind, secret })}>
      {word}
    </Button>
  );
  const columns = [
    head('Name', (secret: Secret) => <code>{secret.name}</code>),
    text('Description', ({ description }: Secret) => description ?? <Dash />, 'wrap'),
    buttons((secret: Secret) => (
      <>
        {button('replace', 'Replace', secret)}
        {button('describe', 'Describe', secret)}
        {button('delete', 'Delete', secret)}
      </>
    )),
  ];
  return (
    <>
      <PageHead
        title="Secrets"
        actions={
          <Button kind="primary" onClick={() => setAsked({ kind: 'new' })}>
            Store a secret
          </Button>
        }
      >
        They are in the environment of every conversation that starts from now on. A value is never shown.
      </PageHead>
      <FilteredListing
        label="Secrets"
        fields={FIELDS}
        polled={polled}
        state={state}
        empty={<p>No secret is stored.</p>}
        none="No name holds this text."
        columns={columns}
        keyOf={(secret) => secret.name}
      />
      {asked === null ? null : asked.kind === 'delete' ? (
        <ConfirmDialog
          title="Delete this secret?"
          word="Delete secret"
          work={() => client.deleteSecret({ params: { secret_id: asked.secret.name } })}
          onLeave={leave}
          onDone={polled.again}
        >
          <p>
            Conversations that start from now on do not have “{asked.secret.name}”; those that have it keep
            it.
          </p>
        </ConfirmDialog>
      ) : (
        <SecretDialog
          kind={asked.kind}
          secret={asked.kind === 'new' ? null : asked.secret}
          onLeave={leave}
          onDone={polled.again}
        />
      )}
    </>
  );
}
