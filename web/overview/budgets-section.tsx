/**
 * Budgets that hold now: of runs that go on, and for administrators of virtual keys.
 * Owns which are shown; what has no budget is on its own page.
 */
import { type ReactElement, useCallback } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { BudgetBar } from '../components/budget-bar.tsx';
import { type Column, figures, head, text } from '../components/table.tsx';
import { usePolled } from '../data/use-polled.ts';
import { Listing } from '../lists/listing.tsx';
import { Link } from '../routing/link.tsx';
import type { RunRecord } from '../run/run-phase.ts';
import { useSession } from '../session/session.ts';
import { usdOfNano } from '../text/money.ts';

const EVERY_MS = 5_000;

interface Budget {
  readonly id: string;
  readonly runId: string | null;
  readonly name: string;
  readonly spent: number;
  readonly held: number;
  readonly limit: number;
  /** What holds when it is reached. */
  readonly mode: string;
  /** Spent at the end, when all goes on as it did; null where it cannot be computed. */
  readonly projected: number | null;
}

const COLUMNS: readonly Column<Budget>[] = [
  head('Of', ({ name, runId }) => (
    <>
      {runId === null ? name : <Link to={{ page: 'run', id: runId }}>{name}</Link>}
      <div className="below">{runId ?? 'virtual key'}</div>
    </>
  )),
  text('Spent', ({ name, spent, held, limit }) => (
    <BudgetBar label={`Budget of ${name}`} spent={spent} held={held} limit={limit} />
  )),
  figures('At its end', ({ projected, limit }) => (
    <>
      {projected === null ? '—' : usdOfNano(projected)}
      {projected !== null && projected > limit ? <span className="tag tag-bad">above</span> : null}
    </>
  )),
  text('At the limit', ({ mode }) => mode),
];

const MODES = {
  observe: 'nothing happens',
  audit: 'it is said',
  enforce: 'nothing more begins',
} as const;

export function BudgetsSection({ isAdmin }: { readonly isAdmin: boolean }): ReactElement {
  const { client } = useSession();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const runs = await client.searchRuns({ query: { state: 'open' } }, { signal });
      const keys = isAdmin ? await client.searchProxyKeys({}, { signal }) : { items: [] };
      const items: readonly Budget[] = [
        ...runs.items.flatMap((run) => budgetOfRun(run) ?? []),
        ...keys.items.flatMap((key) => budgetOfKey(key) ?? []),
      ];
      return { items };
    },
    [client, isAdmin],
  );
  return (
    <section className="stack" aria-labelledby="budgets">
      <h2 id="budgets">Budgets</h2>
      <Listing
        label="Budgets"
        polled={usePolled(ask, EVERY_MS)}
        empty={<p>No run that goes on has a budget{isAdmin ? ', nor has a virtual key' : ''}.</p>}
        columns={COLUMNS}
        keyOf={({ id }) => id}
      />
    </section>
  );
}

function budgetOfRun(run: RunRecord): Budget | null {
  const { budget } = run;
  if (budget === null) return null;
  const ended = Object.values(run.ended).reduce((sum, count) => sum + count, 0);
  return {
    ...{ id: `run ${run.id}`, runId: run.id, name: run.name, spent: run.spent_nano_usd },
    ...{ held: budget.held_nano_usd, limit: budget.limit_nano_usd, mode: MODES[budget.mode] },
    projected: ended === 0 ? null : Math.round((run.spent_nano_usd / ended) * run.total),
  };
}

function budgetOfKey(key: ResultOf<'search_proxy_keys'>['items'][number]): Budget | null {
  if (key.budget_nano_usd === null) return null;
  return {
    ...{ id: `key ${key.id}`, runId: null, name: key.name, spent: key.spent_nano_usd, held: 0 },
    ...{ limit: key.budget_nano_usd, mode: 'its calls are refused', projected: null },
  };
}
