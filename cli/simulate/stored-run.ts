/**
 * The facts of a run as its store has them: rows, first instants of transcripts, spend; no text is kept.
 * Owns the queries; what they mean for a model is decided in simulator/recording/.
 */
import type { ConversationId, RunId } from '../../core/ids.ts';
import type { ConversationRow } from '../../core/machine/projection.ts';
import type { AttemptFacts, RunFacts } from '../../simulator/recording/run-facts.ts';
import type { Store } from '../../store/open-store.ts';
import { noSuchRun, openDeployment } from '../../host/open-deployment.ts';
import { parseRunId } from '../../host/run-id.ts';
import type { Shell } from '../../host/shell.ts';

/** Rows of one page; more calls than one page are read page by page. */
const PAGE_MAX = 1_000;
/** The first message is among the first events; a transcript is not read to its end for it. */
const FIRST_EVENTS_MAX = 50;

/** @throws CliError when there is no such run @throws ParleyError store_unavailable */
export async function readRunFacts(
  shell: Shell,
  { run, config: path }: { readonly run: string; readonly config: string | undefined },
): Promise<RunFacts> {
  const runId = parseRunId(run);
  const config = await openDeployment(shell, { path, startsProxy: false });
  const { readDeployedStore } = await import('../../host/follow/config-store.ts');
  const store = await readDeployedStore(config);
  if (store === null) throw noSuchRun(run);
  try {
    const facts = await factsOf(store, runId);
    if (facts === null) throw noSuchRun(run);
    return facts;
  } finally {
    await store.close();
  }
}

/** Null when there is no such run. */
export async function factsOf(store: Store, runId: RunId): Promise<RunFacts | null> {
  const row = await store.records.run(runId);
  const plan = await store.plans.plan(runId);
  if (row === null) return null;
  const checked = new Set(plan?.items.filter(({ verify }) => verify !== null).map(({ key }) => key));
  const items = await store.records.runItems(runId);
  const conversations = await store.records.conversations({ runId });
  const attempts: AttemptFacts[] = [];
  for (const conversation of conversations) attempts.push(await attemptOf(store, conversation));
  return {
    job: row.name,
    planHash: row.planHash,
    items: items.map(({ key, attempt, outcome, costNanoUsd, admittedAt, endedAt }) => ({
      key,
      attempts: attempt,
      hasCheck: checked.has(key),
      outcome,
      costNanoUsd,
      admittedAt,
      endedAt,
    })),
    attempts,
  };
}

async function attemptOf(store: Store, row: ConversationRow): Promise<AttemptFacts> {
  const { conversationId, sandboxId } = row;
  const sandbox = sandboxId === null ? null : await store.records.sandbox(sandboxId);
  const page = { afterSequence: 0, limit: FIRST_EVENTS_MAX };
  const events = await store.events.events(conversationId, page);
  const messages = events.filter(({ kind }) => kind === 'MessageEvent');
  return {
    key: row.key ?? '',
    createdAt: row.createdAt,
    startFailed: row.startTask === 'ERROR',
    executionStatus: row.executionStatus,
    restedAt: row.executionStatusAt,
    firstEventAt: instantOf(events[0]?.timestamp),
    firstMessageAt: instantOf(messages[0]?.timestamp),
    sandbox:
      sandbox === null
        ? null
        : {
            id: sandbox.sandboxId,
            createdAt: sandbox.createdAt,
            generation: sandbox.generation,
            stopMs: sandbox.stopMs ?? null,
            stoppedAt: sandbox.stoppedAt ?? null,
          },
    spend: await spendOf(store, conversationId),
  };
}

async function spendOf(store: Store, id: ConversationId): Promise<AttemptFacts['spend']> {
  let inputTokens = 0;
  let outputTokens = 0;
  let costNanoUsd: number | null = null;
  let after: { readonly startedAt: number; readonly callId: string } | undefined;
  for (let calls = 0; ;) {
    const rows = await store.spend.search({
      sessionId: id,
      limit: PAGE_MAX,
      ...(after === undefined ? {} : { after }),
    });
    for (const { promptTokens, completionTokens, cost } of rows) {
      inputTokens += promptTokens ?? 0;
      outputTokens += completionTokens ?? 0;
      if (cost !== null) costNanoUsd = (costNanoUsd ?? 0) + cost;
    }
    calls += rows.length;
    after = rows.at(-1);
    if (rows.length < PAGE_MAX) return calls === 0 ? null : { inputTokens, outputTokens, costNanoUsd };
  }
}

/** Agent Servers leave the zone out, and mean UTC. */
function instantOf(timestamp: string | undefined): number | null {
  if (timestamp === undefined) return null;
  const at = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(timestamp) ? timestamp : `${timestamp}Z`);
  return Number.isNaN(at) ? null : at;
}
