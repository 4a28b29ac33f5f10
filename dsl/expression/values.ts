/**
 * Values for expressions: an item of a plan, or what is seen at one instant.
 * Owns how they are filled in; milliseconds become durations here and nowhere else.
 */
import type { PlanItem } from '../../core/plan/plan.ts';
import { durationValue } from './cel-engine.ts';
import type { Value } from './expression.ts';
import type { ConversationSeen, Observation, SandboxSeen } from './observation.ts';
import { onceEach } from '../plan/once.ts';
import { recordValue } from './record.ts';

type Values = Readonly<Record<string, Value>>;

/** What was seen does not change, so it is turned into a value once. */
const conversations = new WeakMap<ConversationSeen, object>();
const conversationLists = new WeakMap<readonly ConversationSeen[], readonly object[]>();
const sandboxes = new WeakMap<SandboxSeen, object>();

/**
 * The names of the phase `observation`. An object that stands in two observations is converted once, and one that an
 * expression does not read not at all.
 */
export function observationValues(seen: Observation): Values {
  return onceEach<Values>({
    elapsed: () => durationValue(seen.elapsed_ms),
    convs: () => kept(conversationLists, seen.convs, conversationValues),
    sandboxes: () => seen.sandboxes.map((each) => kept(sandboxes, each, sandboxValue)),
    capacity: () => recordValue('Capacity', seen.capacity),
    budget: () => recordValue('Budget', seen.budget),
    run: () => recordValue('Run', seen.run),
    summary: () => summaryValue(seen.summary),
  });
}

/** The names of the phase `item`; what an item does not have is "". */
export function itemValues(item: PlanItem): Values {
  const { key, entry, model, tags, matrix } = item;
  const repo = item.repository?.name ?? '';
  const slash = repo.indexOf('/');
  return {
    item: recordValue('Item', {
      key,
      entry,
      repo,
      owner: slash === -1 ? '' : repo.slice(0, slash),
      branch: item.repository?.branch ?? '',
      model,
      tags,
      priority: BigInt(item.priority),
      matrix,
    }),
  };
}

function conversationValues(seen: readonly ConversationSeen[]): readonly object[] {
  return seen.map((each) => kept(conversations, each, conversationValue));
}

function conversationValue(seen: ConversationSeen): object {
  return recordValue('Conversation', { ...seen });
}

function summaryValue({ makespan_ms: makespanMs, ...summary }: Observation['summary']): object {
  return recordValue('Summary', { ...summary, makespan: durationValue(makespanMs) });
}

function sandboxValue({ session_ms: sessionMs, released_ms: releasedMs, ...seen }: SandboxSeen): object {
  return recordValue('Sandbox', {
    ...seen,
    session: durationValue(sessionMs),
    released: durationValue(releasedMs),
  });
}

function kept<Seen extends object, Made>(
  known: WeakMap<Seen, Made>,
  seen: Seen,
  convert: (seen: Seen) => Made,
): Made {
  const before = known.get(seen);
  if (before !== undefined) return before;
  const value = convert(seen);
  known.set(seen, value);
  return value;
}
