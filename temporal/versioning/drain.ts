/**
 * Moves every open entity of a build to the current one: each is asked to go on in a new run, which begins there.
 * Owns whom it asks and how long it waits; an entity moves by itself once nothing of it is under way.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError, WorkflowNotFoundError, type WorkflowClient } from '@temporalio/client';
import { ParleyError } from '../../core/parley-error.ts';
import { moveOnSignal } from '../../workflows/envelope.ts';
import { GRPC, grpcCode } from '../grpc-code.ts';
import { ask } from '../server-client.ts';
import { findBuilds, openOn, type AskedNamespace } from './builds.ts';
import type { WorkerVersion } from './worker-version.ts';

/** How far a build is emptied. */
export interface DrainProgress {
  /** Runs that were asked to move on so far. */
  readonly asked: number;
  /** Runs that were still on the build when it was last looked. */
  readonly left: number;
}

export interface DrainOptions extends AskedNamespace {
  readonly client: Pick<WorkflowClient, 'getHandle'>;
  readonly version: WorkerVersion;
  /** Gives up after so long; what was asked moves on all the same. */
  readonly waitMs: number;
  readonly onProgress?: (progress: DrainProgress) => void;
  readonly signal?: AbortSignal;
}

/** Signals at once: many more only queue at a server that limits them. */
const AT_ONCE = 16;
/** A run that is just being continued as new takes no signals, and a server can have a limit. */
const LATER: readonly number[] = [GRPC.resourceExhausted, GRPC.unavailable];
/** Visibility is written behind, and servers allow ten questions a second for it. */
const POLL_EVERY_MS = 500;
/** An empty answer counts when a second one, so much later, is empty as well: a new run may be written late. */
const EMPTY_POLLS = 2;

/**
 * Resolves with what is left when it gives up or is aborted; 0 when the build has nothing open any more.
 * @throws ParleyError engine_misconfigured when the build is the current one, or there is none to go to; else the
 * error of gRPC
 */
export async function drain(options: DrainOptions): Promise<DrainProgress> {
  await refuseWithoutGoal(options);
  const asked = new Set<string>();
  const untilMs = Date.now() + options.waitMs;
  let empty = 0;
  for (;;) {
    const open = await openRuns(options);
    const fresh = open.filter(({ runId }) => !asked.has(runId));
    await severalAtOnce(fresh, async (run) => {
      if (await askedToMoveOn(options, run)) asked.add(run.runId);
    });
    const progress = { asked: asked.size, left: open.length };
    options.onProgress?.(progress);
    empty = open.length === 0 ? empty + 1 : 0;
    if (empty >= EMPTY_POLLS || Date.now() >= untilMs || options.signal?.aborted === true) return progress;
    await rest(Math.min(POLL_EVERY_MS, Math.max(1, untilMs - Date.now())), options.signal);
  }
}

interface OpenRun {
  readonly workflowId: string;
  readonly runId: string;
}

async function refuseWithoutGoal({ version, ...at }: DrainOptions): Promise<void> {
  const { deployment, buildId } = version;
  const { current, builds } = await findBuilds(at, deployment);
  const refuse = (because: string, remedy: string): never => {
    throw new ParleyError('engine_misconfigured', `Cannot drain build "${buildId}": ${because}`, { remedy });
  };
  if (!builds.some((build) => build.buildId === buildId)) {
    refuse(`deployment "${deployment}" has no such build`, 'see "parley temporal versions"');
  }
  if (current === null)
    refuse('no build is current', 'promote the new one first: "parley temporal promote BUILD"');
  if (current === buildId)
    refuse('it is the current one', 'promote another one first: "parley temporal promote BUILD"');
}

async function openRuns({ connection, namespace, version }: DrainOptions): Promise<readonly OpenRun[]> {
  const query = openOn(version);
  const runs: OpenRun[] = [];
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const token = nextPageToken;
    const page = await ask(connection, () =>
      connection.workflowService.listWorkflowExecutions({ namespace, query, nextPageToken: token }),
    );
    for (const { execution } of page.executions ?? []) {
      runs.push({ workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' });
    }
    nextPageToken = page.nextPageToken ?? new Uint8Array();
  } while (nextPageToken.length > 0);
  return runs;
}

/** False when the server has no time for it now: the next look asks again. A run that has ended needs no asking. */
async function askedToMoveOn(
  { connection, client }: DrainOptions,
  { workflowId, runId }: OpenRun,
): Promise<boolean> {
  try {
    await ask(connection, () => client.getHandle(workflowId, runId).signal(moveOnSignal));
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return true;
    if (LATER.includes(grpcCode(error instanceof ServiceError ? error.cause : error) ?? -1)) return false;
    throw error instanceof ServiceError ? error.cause : error;
  }
}

async function severalAtOnce<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const turn = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, turn));
}

/** Ends early, and in peace, when it is aborted. */
async function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await pause(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}
