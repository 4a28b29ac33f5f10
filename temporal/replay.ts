/**
 * Replays histories against a bundle of workflows: does today's driver still decide as it did then?
 * Owns where histories come from and what a problem is; prints nothing.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { WorkflowClient } from '@temporalio/client';
import { type ReplayWorkerOptions, DefaultLogger, Runtime } from '@temporalio/worker';
import { ParleyError } from '../core/parley-error.ts';
import * as workflows from '../workflows/index.ts';

export interface RecordedHistory {
  /** The driver reads from it which entity it hosts. */
  readonly workflowId: string;
  /** What a reader recognises it by: its file, or its run. */
  readonly name: string;
  readonly history: History;
}

/** What came of replaying one history. */
export interface Replayed {
  readonly workflowId: string;
  readonly name: string;
  readonly events: number;
  /** Null: replayed to its end. */
  readonly problem: string | null;
}

/** A page of a listing; a run is fetched when its turn comes. */
export type Histories = AsyncIterable<RecordedHistory> | Iterable<RecordedHistory>;

/** One after the other: each is a workflow of its own. */
export async function* replay(options: ReplayWorkerOptions, histories: Histories): AsyncIterable<Replayed> {
  // Loaded here, because the package holds a native library and most commands never need it.
  const { Worker } = await import('@temporalio/worker');
  for await (const { workflowId, name, history } of histories) {
    const events = history.events?.length ?? 0;
    let problem = foreign(history);
    if (problem === null) {
      for await (const { error } of Worker.runReplayHistories(options, [{ workflowId, history }]))
        problem = error === undefined ? null : oneLine(error.message);
    }
    yield { workflowId, name, events, problem };
  }
}

/** Why it is none of ours; the package would only say that a task failed. */
function foreign({ events }: History): string | null {
  const type = events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? '';
  const known = Object.keys(workflows);
  if (known.includes(type)) return null;
  return `it is of a workflow "${type}", and this build has ${known.join(', ')}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/**
 * Histories as JSON, as `temporal workflow show --output json` prints them, of a file or of a folder with all below it.
 * @throws ParleyError invalid_request when there is none, or one that cannot be read
 */
export function recordedHistories(place: string): readonly RecordedHistory[] {
  const files = filesOf(place);
  if (files.length === 0) throw unreadable(place, 'there is no history in it');
  return files.map((file) => readHistory(file));
}

function filesOf(place: string): readonly string[] {
  const stats = statSync(place, { throwIfNoEntry: false });
  if (stats === undefined) throw unreadable(place, 'there is no such file or folder');
  if (stats.isFile()) return [place];
  const names = readdirSync(place, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => path.join(place, name));
}

function readHistory(file: string): RecordedHistory {
  let history: History;
  try {
    history = historyFromText(readFileSync(file, 'utf8'));
  } catch (error) {
    throw unreadable(file, error instanceof Error ? oneLine(error.message) : String(error));
  }
  const workflowId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId ?? '';
  if (workflowId === '') throw unreadable(file, 'its first event does not say which workflow was started');
  return { workflowId, name: file, history };
}

function unreadable(place: string, because: string): ParleyError {
  return new ParleyError('invalid_request', `Cannot replay "${place}": ${because}`, {
    remedy: 'give a file, or a folder of files, written by "temporal workflow show --output json"',
  });
}

/** Every run of one workflow, newest first, or of all that a query of the server's visibility finds. */
export async function* serverHistories(
  client: WorkflowClient,
  query: string,
): AsyncIterable<RecordedHistory> {
  for await (const { workflowId, runId } of client.list({ query })) {
    const history = await client.getHandle(workflowId, runId).fetchHistory();
    yield { workflowId, name: runId, history };
  }
}

export function queryOf(workflowId: string): string {
  return `WorkflowId = '${workflowId.replaceAll("'", "''")}'`;
}

/** Histories as JSON: written by us, read from us and from "temporal workflow show --output json". */
export type History = Awaited<ReturnType<ReturnType<WorkflowClient['getHandle']>['fetchHistory']>>;

interface MessageType {
  fromObject(value: object): History;
  toObject(
    message: History,
    how: { readonly longs: typeof String; readonly enums: typeof String; readonly bytes: typeof String },
  ): object;
}

/** The protocol is a package of the worker's and not of ours: both must be the same one. */
function messageType(): MessageType {
  const ofUs = createRequire(import.meta.url);
  const ofWorker = createRequire(ofUs.resolve('@temporalio/worker/package.json'));
  const { temporal } = ofWorker('@temporalio/proto') as {
    readonly temporal: {
      readonly api: { readonly history: { readonly v1: { readonly History: MessageType } } };
    };
  };
  return temporal.api.history.v1.History;
}

/** One line, without a time of writing: the same history gives the same text. */
export function historyToText(history: History): string {
  const type = messageType();
  return JSON.stringify(
    type.toObject(type.fromObject(history), { longs: String, enums: String, bytes: String }),
  );
}

/** @throws SyntaxError, TypeError when it is no history */
export function historyFromText(text: string): History {
  const value = JSON.parse(text, (_name, one: unknown) =>
    typeof one === 'string' ? momentOf(one) : one,
  ) as {
    readonly events?: unknown;
  } | null;
  if (!Array.isArray(value?.events)) throw new TypeError('it is no object with events');
  return messageType().fromObject(value);
}

/** `2026-01-01T00:00:00.5Z` and `1.5s` as the protocol has them; a payload is base64 and never looks like either. */
function momentOf(text: string): unknown {
  const instant = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(text);
  if (instant !== null) {
    const seconds = Math.floor(Date.parse(`${instant[1]}Z`) / 1_000);
    return { seconds: `${seconds}`, nanos: nanosOf(instant[2]) };
  }
  const duration = /^(\d+)(?:\.(\d{1,9}))?s$/.exec(text);
  return duration === null ? text : { seconds: duration[1], nanos: nanosOf(duration[2]) };
}

function nanosOf(fraction = ''): number {
  return Number(fraction.padEnd(9, '0'));
}

/** Once in a process, before anything else of the worker package. */
export function quietReplays(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => undefined),
    telemetryOptions: { logging: { filter: 'off' } },
  });
}
