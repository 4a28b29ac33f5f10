/**
 * What an operator can search for: status, run, owner and tags of an entity, written when they change.
 * Owns the choice of attributes; every change is one event of history, so steps of a start are one status.
 */
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { SearchAttributePair } from '@temporalio/common';
import type { EntityAddress, MachineName } from '../core/ids.ts';
import type { ConversationRow, ProjectionRow } from '../core/machine/projection.ts';
import { shortened, shortenedList } from '../core/text/shorten.ts';
import {
  OWNER,
  RUN,
  SEARCHED_BYTES_MAX,
  SEARCHED_LIST_BYTES_MAX,
  STATUS,
  TAGS,
} from './search-attributes.ts';

interface Shown {
  readonly status: string;
  readonly owner: string | null;
  readonly run: string | null;
  /** `name=value`, sorted. */
  readonly tags: readonly string[];
}

export class Visibility {
  /** The attributes as last written, as text; empty before the first time. */
  shown: string;
  private readonly machine: MachineName;

  constructor(address: EntityAddress, shown: string) {
    this.machine = address.machine;
    this.shown = shown;
  }

  show(rows: readonly ProjectionRow[]): void {
    const next = attributesOf(this.machine, rows);
    if (next === null || next.text === this.shown) return;
    upsertSearchAttributes(next.pairs);
    this.shown = next.text;
  }
}

export interface Attributes {
  readonly pairs: SearchAttributePair[];
  /** The same for the same attributes. */
  readonly text: string;
}

/** Of the rows of one activation the last one of the entity itself counts; null when there is none. */
export function attributesOf(machine: MachineName, rows: readonly ProjectionRow[]): Attributes | null {
  // A shard has no row of its own; it is found by its id, which begins with that of its run.
  const row = rows.findLast((one) => one.table === machine);
  if (row === undefined) return null;
  const shown = bounded(shownOf(row));
  return { pairs: pairs(shown), text: JSON.stringify(shown) };
}

function shownOf(row: ProjectionRow): Shown {
  switch (row.table) {
    case 'sandbox':
      return { status: row.status, owner: row.userId, run: null, tags: [] };
    case 'conversation':
      return {
        status: conversationStatus(row),
        owner: row.userId,
        run: row.runId,
        tags: Object.entries(row.tags)
          .map(([name, value]) => `${name}=${value}`)
          .sort(),
      };
    case 'run':
      return { status: row.mode === 'normal' ? row.phase : row.mode, owner: null, run: row.runId, tags: [] };
    case 'run_item':
      return { status: row.phase, owner: null, run: row.runId, tags: [] };
  }
}

const LIST = { itemBytesMax: SEARCHED_BYTES_MAX, jsonBytesMax: SEARCHED_LIST_BYTES_MAX } as const;

/** As much as a server takes: its owner and its tags are as long as their user wants; the record has the whole. */
function bounded({ status, owner, run, tags }: Shown): Shown {
  const short = (text: string): string => shortened(text, SEARCHED_BYTES_MAX);
  return {
    status: short(status),
    owner: owner === null ? null : short(owner),
    run: run === null ? null : short(run),
    tags: shortenedList(tags, LIST),
  };
}

/** The steps of a start are read from the record; here they are one status. */
function conversationStatus(row: ConversationRow): string {
  if (row.startTask === 'ERROR') return 'ERROR';
  // An agent with its first message before it is still being started.
  if (row.startTask !== 'READY' || (row.executionStatus === 'IDLE' && row.queuedMessages > 0))
    return 'STARTING';
  return row.executionStatus ?? 'READY';
}

function pairs({ status, owner, run, tags }: Shown): SearchAttributePair[] {
  return [
    { key: STATUS, value: status },
    ...(owner === null ? [] : [{ key: OWNER, value: owner }]),
    ...(run === null ? [] : [{ key: RUN, value: run }]),
    { key: TAGS, value: [...tags] },
  ];
}
