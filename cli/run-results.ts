/**
 * What a run has left, read for a terminal: files of its results, what became of branches, and evidence of its items.
 * Owns the reading; must not print.
 */
import { CHECK_LOG, lastLines } from '../activities/check-log.ts';
import { FINDINGS_FILE, parseFindings } from '../activities/collect/findings.ts';
import {
  deliverySchema,
  type DeliveryEvidence,
  type PullRequestEvidence,
} from '../activities/collect/delivery-evidence.ts';
import { parseKept } from '../activities/kept-file.ts';
import type { RunId } from '../core/ids.ts';
import type { RunItemRow } from '../core/machine/projection.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Finding } from '../core/run/items/item-evidence.ts';
import type { ResultName, Results } from '../ports/results.ts';

/** Of one way to an object store and back each; a disk needs no more. */
const AT_ONCE = 16;

/** Null for what is not there, is no file, or cannot be read. @throws ParleyError store_unavailable, part_missing */
export async function readOrNull(
  results: Results,
  file: ResultName,
  bytesMax?: number,
): Promise<Uint8Array | null> {
  try {
    return await results.read(file, bytesMax);
  } catch (error) {
    if (error instanceof ParleyError && (error.code === 'store_unavailable' || error.code === 'part_missing'))
      throw error;
    return null;
  }
}

/** In the order of `things`. */
export async function readEach<Thing, Found>(
  things: readonly Thing[],
  read: (thing: Thing) => Promise<Found>,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  const left = things.entries();
  const work = async (): Promise<void> => {
    for (const [index, thing] of left) found[index] = await read(thing);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, things.length) }, work));
  return found;
}

/** What lies beside the results of a run's items: why a check failed, and what the results lack. */
export interface ItemEvidence {
  readonly key: string;
  /** The last lines of a check that failed; empty for any other end. */
  readonly check: readonly string[];
  readonly findings: readonly Finding[];
}

/** In the order of the items; without those of which there is nothing to say. */
export async function readEvidence(
  items: readonly RunItemRow[],
  results: Results,
): Promise<readonly ItemEvidence[]> {
  const begun = items.filter(({ attempt }) => attempt > 0);
  const found = await readEach(begun, (item) => evidenceOf(item, results));
  return found.filter(({ check, findings }) => check.length > 0 || findings.length > 0);
}

export async function readFindings(
  results: Results,
  item: { readonly runId: RunId; readonly key: string },
): Promise<readonly Finding[]> {
  return parseFindings(await readOrNull(results, { ...item, name: FINDINGS_FILE })) ?? [];
}

async function evidenceOf({ runId, key, outcome }: RunItemRow, results: Results): Promise<ItemEvidence> {
  const log = outcome === 'check_failed' ? await readOrNull(results, { runId, key, name: CHECK_LOG }) : null;
  return {
    key,
    check: log === null ? [] : lastLines(new TextDecoder().decode(log)),
    findings: await readFindings(results, { runId, key }),
  };
}

/** Which branches a run has pushed, as the evidence beside its results says. */
export interface Delivery extends Pick<DeliveryEvidence, 'state' | 'repository' | 'branch' | 'problem'> {
  readonly key: string;
  /** The last one; null when there is none. */
  readonly commit: string | null;
  readonly pullRequest: PullRequestEvidence | null;
}

/** In plan order; without those of which nothing is known. Empty for a job that pushes nothing. */
export async function readDeliveries(
  plan: Plan | null,
  { results, runId }: { readonly results: Results; readonly runId: RunId },
): Promise<readonly Delivery[]> {
  if (plan?.deliver === undefined) return [];
  const found = await readEach(plan.items, async ({ key }) => {
    const bytes = await readOrNull(results, { runId, key, name: 'delivery.json' });
    const delivery = parseKept(deliverySchema, bytes);
    if (delivery === null) return [];
    const { state, repository, branch, commits, problem, pullRequest = null } = delivery;
    return [{ key, commit: commits.at(-1) ?? null, state, repository, branch, problem, pullRequest }];
  });
  return found.flat();
}
