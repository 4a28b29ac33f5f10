/**
 * Everything that is known of one conversation of a run, read for somebody who asks what came of it.
 * Owns the reading and its bounds; must not word or lay out anything.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import type { ConversationId } from '../../core/ids.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import type { Reader } from '../../host/host-port.ts';
import { readDeliveries, type Delivery } from '../deliveries.ts';
import { readEvidence, readFindingsIn, type ItemEvidence } from '../item-evidence.ts';
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
  /** Folder of its results. */
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
  const results = reader.resultsLocation(run.runId);
  const folder = path.join(results, row.key);
  const [evidence = { key: row.key, check: [], findings: readFindingsIn(folder) }] = readEvidence(
    [row],
    results,
  );
  const planned = plan?.items.find(({ key }) => key === row.key) ?? null;
  const ownPlan = plan === null || planned === null ? null : { ...plan, items: [planned] };
  const { files, hasMore } = filesBelow(folder);
  return {
    run,
    row,
    planned,
    answer: row.conversationId === null ? null : await lastAnswer(reader, row.conversationId),
    evidence,
    delivery: readDeliveries(ownPlan, results)[0] ?? null,
    diff: readDiff(folder, evidence),
    files,
    hasMoreFiles: hasMore,
    folder,
  };
}

/** Events come forwards only, and the last word counts. */
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

/** A patch that lies beside a finding of a secret is of an earlier attempt, and not its work. */
function readDiff(folder: string, { findings }: ItemEvidence): StoryDiff | null {
  if (findings.some(({ code, result }) => code === 'secret' && result === PATCH)) return null;
  const file = path.join(folder, PATCH);
  try {
    const opened = openSync(file, 'r');
    try {
      const buffer = Buffer.alloc(Math.min(statSync(file).size, DIFF_BYTES_MAX));
      const read = readSync(opened, buffer, 0, buffer.length, 0);
      return { file, bytes: statSync(file).size, text: buffer.toString('utf8', 0, read) };
    } finally {
      closeSync(opened);
    }
  } catch {
    return null;
  }
}

/** In the order of their names; links are not followed, because an agent may have made them. */
function filesBelow(folder: string): { readonly files: readonly StoryFile[]; readonly hasMore: boolean } {
  const files: StoryFile[] = [];
  const left = [''];
  for (let below = left.shift(); below !== undefined; below = left.shift()) {
    for (const entry of entriesOf(path.join(folder, below))) {
      const name = path.posix.join(below, entry.name);
      if (entry.isDirectory()) left.push(name);
      else if (entry.isFile()) {
        if (files.length === FILES_MAX) return { files, hasMore: true };
        files.push({ name, bytes: sizeOf(path.join(folder, name)) });
      }
    }
  }
  return { files, hasMore: false };
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
