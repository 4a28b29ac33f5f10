/**
 * Sandboxes of the user, live: those that live unless others are selected, filtered and paged by the server.
 * Owns the list; before a stop or deletion the conversations that it affects are shown.
 */
import { type ReactElement, useCallback, useMemo, useState } from 'react';
import type { InputOf } from '../../api/client/client.ts';
import { Button } from '../components/form.tsx';
import { ImpactDialog, type ImpactDialogProps } from '../components/impact-dialog.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Problems } from '../components/parts.tsx';
import { useAction } from '../data/use-action.ts';
import { usePolled } from '../data/use-polled.ts';
import { BulkBar } from '../lists/bulk-bar.tsx';
import { choice, type FilterField } from '../lists/filter-field.ts';
import { FilteredListing } from '../lists/listing.tsx';
import { useSelection } from '../lists/selection.tsx';
import { pageQuery, useListState } from '../lists/use-list-state.ts';
import { sandboxActions } from '../sandbox/bulk-actions.ts';
import { sandboxColumns } from '../sandbox/sandbox-table.tsx';
import { useSession } from '../session/session.ts';
import { labelOf, LIVING_WORDS, SANDBOX_WORDS } from '../text/words.ts';

type Asked = Pick<ImpactDialogProps, 'sandboxId' | 'kind'>;
type Query = NonNullable<InputOf<'search_sandboxes'>['query']>;

const LIVING = 'living';
const FIRST = { status: LIVING, id: '', sort: 'CREATED_AT_DESC' };

const FIELDS: readonly FilterField<'status' | 'id'>[] = [
  choice('status', 'Status', [
    [LIVING, 'All that live'],
    ...SANDBOX_WORDS.map((word) => [word, labelOf(word)] as const),
    ['all', 'All, those that are gone too'],
  ]),
  { name: 'id', label: 'Id begins with', kind: 'text' },
];

export function SandboxesPage(): ReactElement {
  const { client } = useSession();
  const state = useListState(FIRST);
  const selection = useSelection();
  const [asked, setAsked] = useState<Asked | null>(null);
  const { filter } = state;
  const polled = useSandboxes(filter, state.pageId);
  const action = useAction(polled.again);
  const run = (work: () => Promise<unknown>): void => void action.run(work);
  const actions = useMemo(() => sandboxActions(client), [client]);
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
      <Problems of={action.problems} />
      <FilteredListing
        label="Sandboxes"
        fields={FIELDS}
        polled={polled}
        state={state}
        empty={<p>No sandbox. Starting a conversation makes one.</p>}
        none="No sandbox is so."
        columns={sandboxColumns({
          ...{ selection, sort: filter.sort, onSort: (sort) => state.setFilter({ sort }), onAsk: setAsked },
          onResume: (id) => run(() => client.resumeSandbox({ params: { sandbox_id: id } })),
        })}
        keyOf={({ id }) => id}
      />
      <BulkBar
        rows={(polled.value?.items ?? []).map(({ id, status }) => ({ id, name: id.slice(0, 8), status }))}
        selection={selection}
        actions={actions}
        onDone={polled.again}
      />
      {asked === null ? null : (
        <ImpactDialog
          {...asked}
          onLeave={() => {
            setAsked(null);
            polled.again();
          }}
        />
      )}
    </>
  );
}

/** With what is in each; the page is requested again when the filter changes. */
function useSandboxes(filter: typeof FIRST, pageId: string | undefined) {
  const { client } = useSession();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const query = { ...pageQuery(pageId), ...queryOf(filter) };
      const found = await client.searchSandboxes({ query }, { signal });
      const ids = found.items.map(({ id }) => id);
      const inside =
        ids.length === 0 ? [] : await client.listSandboxConversations({ query: { id: ids } }, { signal });
      return { ...found, items: found.items.map((row, at) => ({ ...row, inside: inside[at] })) };
    },
    [client, pageId, filter],
  );
  return usePolled(ask);
}

/** The address may hold anything that a user typed: what is no filter is left out. */
function queryOf({ status, id, sort }: typeof FIRST): Query {
  const known = SANDBOX_WORDS.find((word) => word === status);
  return {
    ...(sort === 'CREATED_AT' ? { sort_order: sort } : {}),
    ...(known === undefined ? (status === 'all' ? {} : { status: [...LIVING_WORDS] }) : { status: [known] }),
    ...(/^[0-9a-fA-F-]{1,36}$/.test(id) ? { id__begins: id } : {}),
  };
}
