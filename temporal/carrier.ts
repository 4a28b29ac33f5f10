/**
 * Carries out what workflows order: rows, envelopes and commands, as Temporal activities.
 * Owns tries and waits by the same retry classes as the embedded engine; what a command does is in activities/.
 */
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import type { Activities, Activity, PollResult, WatchActivity } from '../activities/activity.ts';
import type { ActivityCommand, MachineEvent } from '../core/machine/command.ts';
import { addressKey, type EntityAddress } from '../core/ids.ts';
import { wholeState } from '../core/machine/machine.ts';
import { machineOf } from '../core/machine/machines.ts';
import { asParleyError, type ParleyError } from '../core/parley-error.ts';
import { ACTIVITY_COMMAND_TYPES, isWatch } from '../core/machine/resource.ts';
import { waitAfter } from '../core/machine/retry.ts';
import { withShortTexts } from '../core/text/short-values.ts';
import { shortened } from '../core/text/shorten.ts';
import type { Clock } from '../ports/clock.ts';
import type { EngineStore, Json } from '../ports/engine-store.ts';
import type { HostLookup } from '../ports/host-leases.ts';
import type { Journal } from '../ports/journal.ts';
import { basisOf } from '../workflows/basis.ts';
import {
  sandboxTouchedBy,
  type AcceptedBatch,
  type Batch,
  type CarrierActivities,
  type CommandActivities,
  type DifferentBatch,
  type OvertakenBatch,
} from '../workflows/carrier.ts';
import type { Input } from '../workflows/input.ts';
import type { AddressedEnvelope } from '../workflows/envelope.ts';
import { readClock, type ClockReading, type SteadyClock } from './clock-reading.ts';
import { TEXT_BYTES_MAX } from './kept-texts.ts';
import { rowsAndState } from './tombstones.ts';

/** Shorter than a third of the heartbeat timeout, so that one that is late does no harm. */
const HEARTBEAT_EVERY_MS = 2_000;

/** A batch holds its workflow's task: nothing in it may take longer, or what comes meanwhile would wait. */
const BRIEF_TRY_MS = 3_000;
/** A server cuts a large failure down to nothing; this much of one can be read in the attempts of an activity. */
const FAILURE_BYTES_MAX = 1_000;

/** What the carrier needs of its process. */
export interface CarrierOptions {
  readonly store: Journal & Pick<EngineStore, 'load'>;
  readonly send: (envelope: AddressedEnvelope) => Promise<void>;
  readonly activities: Activities;
  readonly clock: Clock;
  /** Absent: whether the clock was set is not checked. */
  readonly steadyClock?: SteadyClock;
  /** Null or absent: sandboxes are bound to no host, and any worker carries out what reaches into one. */
  readonly hosts?: HostLookup | null;
  /** After rows were written. */
  readonly onRows?: () => void;
  /** It stands still: its workflow was set back, or this worker is late. */
  readonly onOvertaken?: (entity: EntityAddress) => void;
  readonly onError?: (command: ActivityCommand, error: ParleyError, attempt: number) => void;
}

/** What one try leaves for the next, which may be on another worker. */
interface Progress {
  /** Failed tries so far; polls that found nothing are not among them. */
  readonly failures: number;
  readonly memory: Json;
}

/** The activities that workflows call. */
export function carrierActivities(options: CarrierOptions): CarrierActivities & CommandActivities {
  return {
    ...commandActivities(options),
    async announce(batch) {
      const poll = clockReading(options, batch);
      if (poll !== null && poll.byMs > 0) return { kind: 'clockSet', byMs: poll.byMs, clock: poll.sight };
      const verdict = await write(options, batch);
      if (verdict.kind !== 'applied') return verdict;
      await Promise.all(byReceiver(batch.envelopes).map((ones) => sendInOrder(ones, options.send)));
      const hosts = await hostsOfCommands(options, batch);
      const isHere = ({ id }: ActivityCommand): boolean =>
        (hosts[id] ?? options.hosts?.own) === options.hosts?.own;
      const here = batch.commands.filter(isHere);
      const tried = await Promise.all(here.map((command) => tryBrief(options, command)));
      return {
        kind: 'accepted',
        basis: basisOf(batch.inputs),
        events: Object.assign({}, ...tried.map(({ events }) => events)) as Brief['events'],
        failed: tried.flatMap(({ failed }) => failed),
        ...(Object.keys(hosts).length === 0 ? {} : { hosts }),
        ...(poll === null ? {} : { clock: poll.sight }),
      };
    },
    async takeUp(entity) {
      const stored = await options.store.load(entity);
      if (stored === null) return null;
      return {
        state: wholeState(machineOf(entity.machine), stored),
        batch: await options.store.latest(entity),
      };
    },
  };
}

/** By command id, for those that reach into a sandbox of a host; the store is queried only where there are any. */
async function hostsOfCommands(
  { hosts }: CarrierOptions,
  { commands, touched = {} }: Batch,
): Promise<Readonly<Record<string, string>>> {
  const brief = commands.map((command) => [command.id, sandboxTouchedBy(command)] as const);
  const all = [...brief, ...Object.entries(touched)].flatMap(([id, sandbox]) =>
    sandbox === null ? [] : [{ id, sandbox }],
  );
  if (hosts === undefined || hosts === null || all.length === 0) return {};
  const found = await hosts.of([...new Set(all.map(({ sandbox }) => sandbox))]);
  const entries = all.map(({ id, sandbox }) => [id, found.get(sandbox)] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function commandActivities(options: CarrierOptions): CommandActivities {
  const carryOut: CommandActivities['record'] = async ({ command, failures }) => {
    const left = Context.current().info.heartbeatDetails as Progress | undefined;
    const answer = await attempt(options, command, left ?? { failures, memory: null });
    return withShortTexts(answer, TEXT_BYTES_MAX);
  };
  const entries = ACTIVITY_COMMAND_TYPES.map((type) => [type, carryOut] as const);
  return Object.fromEntries(entries) as CommandActivities;
}

/** A further try comes late: the clock reading that it carries is that of the first one. */
function clockReading({ steadyClock }: CarrierOptions, { clock }: Batch): ClockReading | null {
  if (steadyClock === undefined || clock === undefined) return null;
  return Context.current().info.attempt > 1 ? null : readClock(steadyClock, clock);
}

async function write(
  { store, onRows, onOvertaken }: CarrierOptions,
  { entity, number, settled, inputs, rows, tombstone, opened }: Batch,
): Promise<DifferentBatch | OvertakenBatch | { readonly kind: 'applied' }> {
  const kept = tombstone ?? opened;
  const own = kept && {
    address: entity,
    state: kept.state as Json,
    deadline: null,
    done: tombstone !== undefined,
  };
  const entry = { entity, number, settled, inputs: inputs as unknown as Json };
  const verdict = await store.commitJournaled(entry, rowsAndState(rows, own ?? null));
  switch (verdict.kind) {
    case 'applied':
      if (rows.length > 0 || own !== undefined) onRows?.();
      return verdict;
    case 'different':
      return { kind: 'different', inputs: verdict.inputs as unknown as readonly Input[] };
    case 'overtaken':
      // Tried again, it would hold a task open for ever. An execution that is merely late is refused by the server.
      onOvertaken?.(entity);
      return verdict;
  }
}

/** Envelopes of one step to one receiver arrive in the order in which they were sent: an answer before later news. */
async function sendInOrder(
  envelopes: readonly AddressedEnvelope[],
  send: CarrierOptions['send'],
): Promise<void> {
  for (const envelope of envelopes) await send(envelope);
}

function byReceiver(envelopes: readonly AddressedEnvelope[]): readonly (readonly AddressedEnvelope[])[] {
  const groups = new Map<string, AddressedEnvelope[]>();
  for (const envelope of envelopes) {
    const key = addressKey(envelope.to);
    groups.set(key, [...(groups.get(key) ?? []), envelope]);
  }
  return [...groups.values()];
}

type Brief = Pick<AcceptedBatch, 'events' | 'failed'>;

/** One short try; what takes longer, or has to be tried again, is left to an activity of its own. */
async function tryBrief(options: CarrierOptions, command: ActivityCommand): Promise<Brief> {
  const activity = activityOf(options, command);
  const signal = AbortSignal.timeout(BRIEF_TRY_MS);
  const answer = (event: MachineEvent | null): Brief => ({
    events: { [command.id]: withShortTexts(event, TEXT_BYTES_MAX) },
    failed: [],
  });
  try {
    return answer(await whileBrief(activity.run(command as never, { signal, attempt: 0 }), signal));
  } catch (cause) {
    if (signal.aborted) return { events: {}, failed: [] };
    const error = asParleyError(cause);
    options.onError?.(command, error, 0);
    if (waitAfter(error, activity.retry, 0) !== null) return { events: {}, failed: [command.id] };
    return answer(activity.failed(command as never, error));
  }
}

/** Work that is too slow is not waited for, whether it heeds its signal or not. */
function whileBrief<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  return Promise.race([work, late]);
}

async function attempt(
  options: CarrierOptions,
  command: ActivityCommand,
  progress: Progress,
): Promise<MachineEvent | null> {
  const activity = activityOf(options, command);
  try {
    if (!isWatch(command.type)) return await runWithHeartbeat(activity, command, progress);
    const found = await (activity as WatchActivity).poll(command as never, progress.memory);
    if (found.kind === 'over') return found.event;
    return pollAgain(options, command, found, progress);
  } catch (cause) {
    if (cause instanceof ApplicationFailure || cause instanceof CancelledFailure) throw cause;
    return await failedAttempt(options, { command, activity, progress }, asParleyError(cause));
  }
}

async function runWithHeartbeat(
  activity: Activity,
  command: ActivityCommand,
  progress: Progress,
): Promise<MachineEvent | null> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(progress), HEARTBEAT_EVERY_MS);
  const signal = context.cancellationSignal;
  try {
    const event = await activity.run(command as never, { signal, attempt: progress.failures });
    // Aborted work may return null, as if no answer were needed: this must not be taken for an answer.
    if (signal.aborted) throw new CancelledFailure('cancelled');
    return event;
  } finally {
    clearInterval(timer);
  }
}

function pollAgain(
  { clock }: CarrierOptions,
  command: ActivityCommand,
  found: Extract<PollResult, { kind: 'again' }>,
  progress: Progress,
): never {
  return comeBack({ ...progress, failures: 0, memory: found.memory }, found.at - clock.now(), {
    type: 'poll',
    message: `${command.type} found nothing yet`,
  });
}

async function failedAttempt(
  { onError }: CarrierOptions,
  {
    command,
    activity,
    progress,
  }: { readonly command: ActivityCommand; readonly activity: Activity; readonly progress: Progress },
  error: ParleyError,
): Promise<MachineEvent | null> {
  onError?.(command, error, progress.failures);
  const waitMs = waitAfter(error, activity.retry, progress.failures);
  if (waitMs === null) return await activity.failed(command as never, error);
  return comeBack({ ...progress, failures: progress.failures + 1 }, waitMs, {
    type: error.code,
    message: error.message,
  });
}

/** Ends this try; the server begins the next one after the wait, and neither is in the history. */
function comeBack(
  progress: Progress,
  waitMs: number,
  why: { readonly type: string; readonly message: string },
): never {
  Context.current().heartbeat(progress);
  const message = shortened(why.message, FAILURE_BYTES_MAX);
  const nextRetryDelay = Math.max(1, waitMs);
  throw ApplicationFailure.create({ type: why.type, message, nonRetryable: false, nextRetryDelay });
}

function activityOf({ activities }: CarrierOptions, { type }: ActivityCommand): Activity {
  return activities[type] as unknown as Activity;
}
