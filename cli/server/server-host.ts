/**
 * A service elsewhere as a host: what a command asks of it goes over the application API, and runs are watched as a stream.
 * Owns the translation between the two; must not carry anything out here.
 */
import { type Client, ClientError, createClient, type RunChange } from '../../api/client/client.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../core/error-catalogue.ts';
import type { RunId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';
import { createResultsDirectory } from '../../store/blobs/results-directory.ts';
import { isAtRest } from '../../host/run-watch.ts';
import type { Host, Reader, RunRequest } from '../../host/host-port.ts';
import type { ServerAddress } from './server-address.ts';
import { rowOfItem, rowOfRun } from './server-rows.ts';

export interface ServerHostOptions extends ServerAddress {
  /** Where results are copied to. */
  readonly resultsDir: string;
  onNotice(text: string): void;
}

const PAGE_ROWS = 100;
/** Newest runs that are listed; older ones are asked for by their id. */
const RUNS_MAX = 1_000;
const FETCHED_AT_ONCE = 4;

export function openServerHost({ url, key, resultsDir, onNotice }: ServerHostOptions): Host {
  const client = createClient({ url, key });
  const results = createResultsDirectory(resultsDir);
  const rows = readerOfServer(client);
  return {
    ...rows,
    engine: { kind: 'embedded' },
    application: null,
    ended: new Promise(() => undefined),
    isReady: () => Promise.resolve(true),
    isolation: 'as the service says',
    warnings: [],
    goesOn: () => true,
    results,
    startRun: async (id, plan, secrets = {}) => {
      const body = { plan: plan as never, secrets };
      await told(client.submitRun({ body }, { idempotencyKey: id }));
    },
    tellRun: async (id, event, amended) => {
      if (amended !== undefined || event.type === 'planAmended')
        throw new ParleyError('invalid_request', 'Cannot change the conversations of a run of a service', {
          remedy: 'submit the changed job as another run',
        });
      await told(client.controlRun({ params: { run_id: id }, body: event as ControlBody }));
    },
    waitForRun: (id, onChange, signal) => waitForRun(client, { id, onChange, signal, onNotice }),
    collect: (id) => fetchResults(client, { id, results }),
    reconcile: () => Promise.reject(notHere('reconcile')),
    report: () => Promise.reject(notHere('report')),
    close: () => Promise.resolve(),
  };
}

type ControlBody = Parameters<Client['controlRun']>[0]['body'] & RunRequest;

function notHere(what: string): ParleyError {
  return new ParleyError('invalid_request', `Cannot ${what} for a run of a service: it does that by itself`, {
    remedy: 'fetch what it has written with "parley collect RUN --server URL"',
  });
}

function readerOfServer(client: Client): Omit<Reader, 'results' | 'close'> {
  return {
    run: (id) => orNull(client.getRun({ params: { run_id: id } }).then(rowOfRun)),
    runs: async () => (await pages((page) => client.searchRuns({ query: page }), RUNS_MAX)).map(rowOfRun),
    runItems: (id) => itemsOf(client, id),
    plan: (id) =>
      orNull(client.getRunPlan({ params: { run_id: id } }).then((plan) => plan as unknown as Plan)),
    events: async (id, { afterSequence, limit }) => {
      const events: Awaited<ReturnType<Host['events']>>[number][] = [];
      const over = new AbortController();
      const count = await told(client.countEvents({ params: { conversation_id: id } }));
      if (afterSequence >= count) return [];
      const stream = client.events(id, { afterSeq: afterSequence, signal: over.signal });
      for await (const { seq, event } of stream) {
        const { id: eventId, kind, timestamp } = event;
        events.push({ sequence: seq, eventId, kind, timestamp: String(timestamp), body: event });
        if (seq >= count || events.length >= limit) break;
      }
      return events;
    },
    placement: async (id) =>
      (await told(client.getPlacement({ params: { conversation_id: id } })))?.summary ?? null,
    lifecycleEvents: () => Promise.resolve([]),
    runEvents: async (id) =>
      (await told(client.listRunEvents({ params: { run_id: id } }))).map(({ at, code, detail }) => ({
        ...({ about: { machine: 'run', id }, conversationId: null, code, detail } as const),
        at: Date.parse(at),
      })),
    lastActivityAt: () => Promise.resolve(null),
  };
}

async function itemsOf(client: Client, id: RunId): Promise<readonly RunItemRow[]> {
  const found = await pages(
    (query) => client.searchRunItems({ params: { run_id: id }, query }),
    Number.POSITIVE_INFINITY,
  );
  return found.map((item) => rowOfItem(id, item));
}

interface Page<Row> {
  readonly items: readonly Row[];
  readonly next_page_id: string | null;
}

async function pages<Row>(
  ask: (query: { limit: number; page_id?: string }) => Promise<Page<Row>>,
  rowsMax: number,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let next: string | null = ''; next !== null && rows.length < rowsMax;) {
    const page: Page<Row> = await told(ask({ limit: PAGE_ROWS, ...(next === '' ? {} : { page_id: next }) }));
    rows.push(...page.items);
    next = page.next_page_id;
  }
  return rows;
}

interface Waiting {
  readonly id: RunId;
  readonly onChange: (row: RunRow, items: readonly RunItemRow[]) => void;
  readonly signal: AbortSignal;
  onNotice(text: string): void;
}

async function waitForRun(client: Client, { id, onChange, signal, onNotice }: Waiting): Promise<RunRow> {
  const items = new Map<string, RunItemRow>();
  const plan = await orNull(client.getRunPlan({ params: { run_id: id } }));
  const order = (plan as unknown as Plan | null)?.items.map(({ key }) => key) ?? [];
  const away = { since: 0 };
  const onBroken = (): void => {
    if (away.since === 0) onNotice('the service cannot be reached; trying again, and the run goes on there');
    away.since ||= Date.now();
  };
  let row: RunRow | null = null;
  const changes = client.runChanges(id, { signal, onBroken });
  for await (const change of throwing(changes)) {
    if (away.since !== 0) onNotice('the service is there again');
    away.since = 0;
    row = rowOfRun(change.run);
    for (const item of change.items) items.set(item.key, rowOfItem(id, item));
    onChange(row, inOrder(items, order));
    if (isAtRest(row)) break;
  }
  if (row === null) throw new ParleyError('not_found', `Cannot find the run "${id}"`);
  return row;
}

async function* throwing(
  changes: AsyncGenerator<RunChange, void, undefined>,
): AsyncGenerator<RunChange, void, undefined> {
  try {
    yield* changes;
  } catch (error) {
    throw asHere(error);
  }
}

/** As the plan has them; those of an amended plan behind. */
function inOrder(items: ReadonlyMap<string, RunItemRow>, order: readonly string[]): readonly RunItemRow[] {
  const known = new Set(order);
  const rest = [...items.keys()].filter((key) => !known.has(key));
  return [...order, ...rest].flatMap((key) => items.get(key) ?? []);
}

interface Fetching {
  readonly id: RunId;
  readonly results: ReturnType<typeof createResultsDirectory>;
}

/** A copy of every file; where each came to lie. Names are checked as those of our own are. */
async function fetchResults(client: Client, { id, results }: Fetching): Promise<readonly string[]> {
  const names = await told(client.listRunResults({ params: { run_id: id } }));
  const left = [...names];
  const fetchNext = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const response = await told(client.getRunResult({ params: { run_id: id }, query: { name } }));
      const content = new Uint8Array(await response.arrayBuffer());
      await results.write({ runId: id, key: null, name }, content);
    }
  };
  await Promise.all(Array.from({ length: FETCHED_AT_ONCE }, fetchNext));
  return names.map((name) => `${results.location(id)}/${name}`);
}

async function orNull<Value>(asked: Promise<Value>): Promise<Value | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ClientError && error.status === 404) return null;
    throw asHere(error);
  }
}

async function told<Value>(asked: Promise<Value>): Promise<Value> {
  try {
    return await asked;
  } catch (error) {
    throw asHere(error);
  }
}

/** What the service said, as if it had been said here; one that cannot be reached is an engine that cannot. */
export function asHere(error: unknown): unknown {
  if (error instanceof ClientError) {
    const { code } = error;
    const known = typeof code === 'string' && Object.hasOwn(ERROR_CATALOGUE, code);
    return new ParleyError(known ? (code as ErrorCode) : 'invalid_request', error.message);
  }
  if (error instanceof TypeError)
    return new ParleyError('engine_unreachable', 'Cannot reach the service', {
      cause: error,
      remedy: 'look whether "parley serve" runs there, and at the address of --server',
    });
  return error;
}
