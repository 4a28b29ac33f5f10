/**
 * Histories as JSON: written by us, read from us and from "temporal workflow show --output json".
 * Owns the two spellings of instants and durations; the SDK's own reader fails where npm installs protobufjs twice.
 */
import { createRequire } from 'node:module';
import type { WorkflowClient } from '@temporalio/client';

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
