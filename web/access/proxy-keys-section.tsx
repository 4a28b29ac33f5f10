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
import { ACTIONS, type Column, Table } from '../components/table.tsx';
import { useAction } from '../data/use-action.ts';
import { useAnswer } from '../data/use-polled.ts';
import type { FilterField } from '../lists/filter-field.ts';
import { FilteredListing } from '../lists/listing.tsx';
import { pageQuery, useListState } from '../lists/use-list-state.ts';
import { useSession } from '../session/session.ts';

type ProxyKey = ResultOf<'search_proxy_keys'>['items'][number];

const FIRST = { name: '' };
const FIELDS: readonly FilterField<'name'>[] = [{ name: 'name', label: 'Name contains', kind: 'text' }];
const COLUMNS: readonly Column[] = ['Name', 'For', 'Models', 'Spend', 'Created', ACTIONS];

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
      >
        {(rows) => (
          <Table columns={COLUMNS}>
            {rows.map((row) => (
              <Row key={row.id} row={row} onBlock={() => block(row)} onRemove={() => setAsked(row)} />
            ))}
          </Table>
        )}
      </FilteredListing>
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

interface RowProps {
  readonly row: ProxyKey;
  onBlock(): void;
  onRemove(): void;
}

function Row({ row, onBlock, onRemove }: RowProps): ReactElement {
  const { name, blocked } = row;
  const whom = [row.team, row.user_id].filter((one) => one !== null);
  return (
    <tr>
      <th scope="row">
        {name} <code>…{row.tail}</code>
        <div className="below">
          {blocked ? <span className="tag tag-bad">blocked</span> : null}
          <Tags of={row.tags} />
        </div>
      </th>
      <td>{whom.length === 0 ? <Dash /> : whom.join(' · ')}</td>
      <td>{row.models === null ? 'all' : row.models.join(', ')}</td>
      <td>
        <BudgetBar
          label={`Spend of ${name}`}
          spent={row.spent_nano_usd}
          held={0}
          limit={row.budget_nano_usd}
        />
      </td>
      <td>
        <When at={row.created_at} />
      </td>
      <td className="actions">
        <Button kind="quiet" aria-label={`${blocked ? 'Unblock' : 'Block'} ${name}`} onClick={onBlock}>
          {blocked ? 'Unblock' : 'Block'}
        </Button>
        <Button kind="quiet" aria-label={`Remove ${name}`} onClick={onRemove}>
          Remove
        </Button>
      </td>
    </tr>
  );
}
