/**
 * Virtual keys of the model proxy with what each has spent of its budget.
 * Owns the list; a key is made at the proxy, which shows its text once.
 */
import { type ReactElement, useState } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { BudgetBar } from '../components/budget-bar.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { Button } from '../components/form.tsx';
import { Dash, Problems, Tags, When } from '../components/parts.tsx';
import { buttons, type Column, head, text } from '../components/table.tsx';
import { useAction } from '../data/use-action.ts';
import { useAnswer } from '../data/use-polled.ts';
import type { FilterField } from '../lists/filter-field.ts';
import { FilteredListing } from '../lists/listing.tsx';
import { pageQuery, useListState } from '../lists/use-list-state.ts';
import { useSession } from '../session/session.ts';

type ProxyKey = ResultOf<'search_proxy_keys'>['items'][number];

const FIRST = { name: '' };
const FIELDS: readonly FilterField<'name'>[] = [{ name: 'name', label: 'Name contains', kind: 'text' }];
const COLUMNS: readonly Column<ProxyKey>[] = [
  head('Name', ({ name, tail, blocked, tags }) => (
    <>
      {name} <code>…{tail}</code>
      <div className="below">
        {blocked ? <span className="tag tag-bad">blocked</span> : null}
        <Tags of={tags} />
      </div>
    </>
  )),
  text(
    'For',
    ({ team, user_id: user }) => [team, user].filter((one) => one !== null).join(' · ') || <Dash />,
  ),
  text('Models', ({ models }) => (models === null ? 'all' : models.join(', '))),
  text('Spend', ({ name, spent_nano_usd: spent, budget_nano_usd: limit }) => (
    <BudgetBar label={`Spend of ${name}`} spent={spent} held={0} limit={limit} />
  )),
  text('Created', (row) => <When at={row.created_at} />),
];

export function ProxyKeysSection(): ReactElement {
  const { client } = useSession();
  const state = useListState(FIRST);
  const [asked, setAsked] = useState<ProxyKey | null>(null);
  const action = useAction();
  const { name } = state.filter;
  const query = { ...pageQuery(state.pageId), ...(name === '' ? {} : { name__contains: name }) };
  const polled = useAnswer('searchProxyKeys', { query });
  const block = ({ id, blocked }: ProxyKey): void =>
    void action.run(async () => {
      await client.updateProxyKey({ params: { proxy_key_id: id }, body: { blocked: !blocked } });
      polled.again();
    });
  const button = (word: string, name: string, onClick: () => void): ReactElement => (
    <Button kind="quiet" aria-label={`${word} ${name}`} onClick={onClick}>
      {word}
    </Button>
  );
  const actions = buttons((row: ProxyKey) => (
    <>
      {button(row.blocked ? 'Unblock' : 'Block', row.name, () => block(row))}
      {button('Remove', row.name, () => setAsked(row))}
    </>
  ));
  return (
    <section className="stack" aria-labelledby="proxy-keys">
      <h2 id="proxy-keys">Virtual keys of the proxy</h2>
      <p className="quiet">
        Whoever has one calls models through the proxy. Keys of conversations are none of these.
      </p>
      <Problems of={action.problems} />
      <FilteredListing
        label="Virtual keys"
        fields={FIELDS}
        polled={polled}
        state={state}
        empty={<p>No virtual key. The proxy makes one with “POST /key/generate”.</p>}
        none="No name holds this text."
        columns={[...COLUMNS, actions]}
        keyOf={({ id }) => id}
      />
      {asked === null ? null : (
        <ConfirmDialog
          title="Remove this virtual key?"
          word="Remove key"
          work={() => client.deleteProxyKey({ params: { proxy_key_id: asked.id } })}
          onLeave={() => setAsked(null)}
          onDone={polled.again}
        >
          <p>
            Whoever uses “{asked.name}” is refused within 30 seconds. What it has spent stays in every sum.
          </p>
        </ConfirmDialog>
      )}
    </section>
  );
}
