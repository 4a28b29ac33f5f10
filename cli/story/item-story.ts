/**
 * Everything that is known of one conversation of a run, read for a user who wants to know its outcome.
 * Owns the reading and its bounds; must not word or lay out anything.
 */
import type { ConversationId, RunId } from '../../core/ids.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import type { Reader } from '../../host/host-port.ts';
import type { Results } from '../../ports/results.ts';
import {
  readDeliveries,
  type Delivery,
  readEvidence,
  readFindings,
  type ItemEvidence,
  readOrNull,
} from '../run-results.ts';
import { agentWords } from '../print/event-line.ts';

export interface StoryFile {
  /** Relative to the folder of the conversation. */
  readonly name: string;
  readonly bytes: number;
}

export interface StoryDiff {
  readonly file: string;
  readonly bytes: number;
  /** From its beginning, as much as is read of it. */
  readonly text: string;
}

export interface ItemStory {
  readonly run: RunRow;
  readonly row: RunItemRow;
  /** Null where the plan is not at hand. */
  readonly planned: PlanItem | null;
  /** What the agent said last, whole; null when it said nothing. */
  readonly answer: string | null;
  readonly evidence: ItemEvidence;
  readonly delivery: Delivery | null;
  /** Null when none was collected, or when it was withheld. */
  readonly diff: StoryDiff | null;
  readonly files: readonly StoryFile[];
  /** There are more than `files` names. */
  readonly hasMoreFiles: boolean;
  /** Where its results are. */
  readonly folder: string;
}

/** A page of a store or a service; more would only wait longer for the first. */
const PAGE_EVENTS = 1_000;
/** A person reads no more, and the file itself is named. */
const DIFF_BYTES_MAX = 1024 * 1024;
/** Globs of a job may collect whole trees. */
const FILES_MAX = 1_000;
const PATCH = 'changes.patch';

export interface StoryAsked {
  readonly reader: Reader;
  readonly run: RunRow;
  readonly row: RunItemRow;
  readonly plan: Plan | null;
}

export async function readStory({ reader, run, row, plan }: StoryAsked): Promise<ItemStory> {
  const { results } = reader;
  const item = { runId: run.runId, key: row.key };
  const folder = `${results.location(run.runId)}/${row.key}`;
  const [found] = await readEvidence([row], results);
  const evidence = found ?? { key: row.key, check: [], findings: await readFindings(results, item) };
  const planned = plan?.items.find(({ key }) => key === row.key) ?? null;
  const ownPlan = plan === null || planned === null ? null : { ...plan, items: [planned] };
  const listed = [...(await results.files(item, FILES_MAX + 1))].sort(byDepthAndName);
  return {
    run,
    row,
    planned,
    answer: row.conversationId === null ? null : await lastAnswer(reader, row.conversationId),
    evidence,
    delivery: (await readDeliveries(ownPlan, { results, runId: run.runId }))[0] ?? null,
    diff: await readDiff({ results, item, folder, evidence, listed }),
    files: listed.slice(0, FILES_MAX),
    hasMoreFiles: listed.length > FILES_MAX,
    folder,
  };
}

/** Events can be read only forwards, and the last message counts. */
async function lastAnswer(reader: Reader, id: ConversationId): Promise<string | null> {
  let answer: string | null = null;
  for (let after = 0; ;) {
    const page = await reader.events(id, { afterSequence: after, limit: PAGE_EVENTS });
    for (const { kind, body, sequence } of page) {
      const words = agentWords(kind, body);
      if (words.trim() !== '') answer = words;
      after = sequence;
    }
    if (page.length < PAGE_EVENTS) return answer;
  }
}

interface DiffAsked {
  readonly results: Results;
  readonly item: { readonly runId: RunId; readonly key: string };
  readonly folder: string;
  readonly evidence: ItemEvidence;
  readonly listed: readonly StoryFile[];
}

/** A patch that lies beside a finding of a secret is of an earlier attempt, and not its work. */
async function readDiff({ results, item, folder, evidence, listed }: DiffAsked): Promise<StoryDiff | null> {
  if (evidence.findings.some(({ code, result }) => code === 'secret' && result === PATCH)) return null;
  const text = await readOrNull(results, { ...item, name: PATCH }, DIFF_BYTES_MAX);
  if (text === null) return null;
  const bytes = listed.find(({ name }) => name === PATCH)?.bytes ?? text.byteLength;
  return { file: `${folder}/${PATCH}`, bytes, text: new TextDecoder().decode(text) };
}

/** What lies at the top first: those are the results, and below are the files that were collected. */
function byDepthAndName(a: StoryFile, b: StoryFile): number {
  const deeper = a.name.split('/').length - b.name.split('/').length;
  if (deeper !== 0) return deeper;
  return a.name < b.name ? -1 : 1;
}
