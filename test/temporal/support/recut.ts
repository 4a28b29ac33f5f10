/**
 * Histories whose tasks are cut in another way than they were lived through, as a replay may meet them.
 * Owns the edits of events; must not replay.
 */
import { historyFromText, historyToText, type History } from '../../../temporal/replay.ts';

interface Event {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventTime: unknown;
  [attributes: string]: unknown;
}

interface Completed {
  readonly sdkMetadata?: {
    readonly coreUsedFlags?: readonly number[];
    readonly langUsedFlags?: readonly number[];
  };
}

const COMPLETED = 'WORKFLOW_TASK_COMPLETED';
const COMPLETED_ATTRIBUTES = 'workflowTaskCompletedEventAttributes';
const MARKER = 'MARKER_RECORDED';
const SCHEDULED = 'WORKFLOW_TASK_SCHEDULED';
const SIGNALED = 'WORKFLOW_EXECUTION_SIGNALED';
const STARTED = 'WORKFLOW_TASK_STARTED';

/**
 * Each with one task lost after its batch was said: the worker that said it took the envelope after it as a later one,
 * and said both batches in the next task. A replay takes both envelopes at once.
 */
export function withTasksJoined(history: History): readonly History[] {
  const around = [STARTED, COMPLETED, MARKER, SIGNALED, SCHEDULED, STARTED, COMPLETED, MARKER];
  return edits(history, around, (found) => {
    const [started, completed, marker, signal, scheduled, next, nextCompleted, ...rest] = found;
    const whole = withFlagsOf(completed, nextCompleted);
    return [started, timedOut(completed), signal, scheduled, next, whole, marker, ...rest];
  });
}

/**
 * Each with a task between two envelopes that were taken at once: the worker that said their batch saw that task joined
 * with the next. A replay takes the second envelope while the batch of the first is being said.
 */
export function withTasksSplit(history: History): readonly History[] {
  const split = (envelopes: Found, task: Found): Found => [
    ...envelopes.slice(0, 1),
    ...copies(task),
    ...envelopes.slice(1),
    ...task,
  ];
  return [
    ...edits(history, [SIGNALED, SIGNALED, SCHEDULED, STARTED, COMPLETED], (found) =>
      split(found.slice(0, 2), found.slice(2)),
    ),
    ...edits(
      history,
      [SIGNALED, SCHEDULED, SIGNALED, STARTED, COMPLETED],
      ([first, scheduled, second, ...rest]) => split([first, second], [scheduled, ...rest]),
    ),
  ];
}

/** As a build leaves it that does not say what a batch rests on. */
export function withoutBases(history: History): History {
  const basis = /"basis":\[[^\]]*\],?/;
  return edited(history, (events) =>
    events.map((event) => {
      const { details } = (event['markerRecordedEventAttributes'] ?? {}) as {
        details?: { result?: { payloads: { data: string }[] } };
      };
      for (const payload of details?.result?.payloads ?? []) {
        const text = Buffer.from(payload.data, 'base64').toString('utf8').replace(basis, '');
        payload.data = Buffer.from(text).toString('base64');
      }
      return event;
    }),
  );
}

type Found = readonly (Event | undefined)[];

function edits(history: History, around: readonly string[], edit: (found: Found) => Found): History[] {
  const kinds = parsed(history).map(({ eventType }) => eventType.replace('EVENT_TYPE_', ''));
  const places = [...kinds.keys()].filter((at) => around.every((kind, index) => kinds[at + index] === kind));
  return places.map((at) =>
    edited(history, (events) => {
      const found = events.slice(at, at + around.length);
      const instead = edit(found).flatMap((event) => (event === undefined ? [] : [event]));
      return [...events.slice(0, at), ...instead, ...events.slice(at + around.length)];
    }),
  );
}

/** The same once more: numbers of their own, which they name each other by. */
function copies(found: Found): Found {
  const own = new Map(found.map((event) => [event?.eventId ?? '', `copy of ${event?.eventId ?? ''}`]));
  return found.map((event) => {
    const copy = structuredClone(event);
    if (copy !== undefined) renumber(copy, own);
    return copy;
  });
}

/**
 * The worker that took a lost task anew recorded which SDK flags it used, those of the lost task as well: a
 * history without them would be replayed in ways of older SDKs, which end a run before a request of the same task.
 */
function withFlagsOf(lost: Event | undefined, completed: Event | undefined): Event | undefined {
  if (completed === undefined) return undefined;
  const own = completed[COMPLETED_ATTRIBUTES] as Completed;
  const flagsOf = (of: 'coreUsedFlags' | 'langUsedFlags'): readonly number[] =>
    [lost?.[COMPLETED_ATTRIBUTES] as Completed | undefined, own].flatMap(
      (one) => one?.sdkMetadata?.[of] ?? [],
    );
  const sdkMetadata = {
    ...own.sdkMetadata,
    coreUsedFlags: [...new Set(flagsOf('coreUsedFlags'))],
    langUsedFlags: [...new Set(flagsOf('langUsedFlags'))],
  };
  return { ...completed, [COMPLETED_ATTRIBUTES]: { ...own, sdkMetadata } };
}

/** The same task, but lost. */
function timedOut(completed: Event | undefined): Event {
  if (completed === undefined) throw new Error('Cannot edit the history: an event is missing');
  const { eventId, eventTime } = completed;
  const { scheduledEventId, startedEventId } = completed[COMPLETED_ATTRIBUTES] as {
    readonly [id: string]: string;
  };
  return {
    eventId,
    eventType: 'EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT',
    eventTime,
    workflowTaskTimedOutEventAttributes: {
      scheduledEventId,
      startedEventId,
      timeoutType: 'TIMEOUT_TYPE_START_TO_CLOSE',
    },
  };
}

function parsed(history: History): Event[] {
  return (JSON.parse(historyToText(history)) as { events: Event[] }).events;
}

/** Numbers the events anew, and what names one of them by its number. */
function edited(history: History, edit: (events: Event[]) => Event[]): History {
  const events = edit(parsed(history)).map((event) => structuredClone(event));
  const numbers = new Map<string, string>();
  for (const [index, { eventId }] of events.entries()) numbers.set(eventId, String(index + 1));
  for (const event of events) renumber(event, numbers);
  return historyFromText(JSON.stringify({ events }));
}

function renumber(value: object, numbers: ReadonlyMap<string, string>): void {
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'object' && inner !== null) renumber(inner as object, numbers);
    else if ((name === 'eventId' || name.endsWith('EventId')) && typeof inner === 'string')
      (value as Record<string, unknown>)[name] = numbers.get(inner) ?? inner;
  }
}
