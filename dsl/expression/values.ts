/**
 * Values for expressions: an item of a plan, or what is seen at one instant.
 * Owns how they are filled in; milliseconds become durations here and nowhere else.
 */
import type { PlanItem } from '../../core/plan.ts';
import { durationValue } from './cel-engine.ts';
import type { Value } from './expression.ts';
import type { ConversationSeen, Observation, SandboxSeen } from './observation.ts';
import { recordValue } from './record.ts';

type Values = Readonly<Record<string, Value>>;

/** What was seen does not change, so it is turned into a value once. */
const conversations = new WeakMap<ConversationSeen, object>();
const sandboxes = new WeakMap<SandboxSeen, object>();

/** The names of the phase `observation`. An object that stands in two observations is converted once. */
export function observationValues(seen: Observation): Values {
  const { makespan_ms: makespanMs, ...summary } = seen.summary;
  return {
    elapsed: durationValue(seen.elapsed_ms),
    convs: seen.convs.map((each) => once(conversations, each, conversationValue)),
    sandboxes: seen.sandboxes.map((each) => once(sandboxes, each, sandboxValue)),
    capacity: recordValue('Capacity', seen.capacity),
    budget: recordValue('Budget', seen.budget),
    run: recordValue('Run', seen.run),
    summary: recordValue('Summary', { ...summary, makespan: durationValue(makespanMs) }),
  };
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

function conversationValue(seen: ConversationSeen): object {
  return recordValue('Conversation', { ...seen });
}

function sandboxValue({ session_ms: sessionMs, released_ms: releasedMs, ...seen }: SandboxSeen): object {
  return recordValue('Sandbox', {
    ...seen,
    session: durationValue(sessionMs),
    released: durationValue(releasedMs),
  });
}

function once<Seen extends object>(
  known: WeakMap<Seen, object>,
  seen: Seen,
  convert: (seen: Seen) => object,
): object {
  const before = known.get(seen);
  if (before !== undefined) return before;
  const value = convert(seen);
  known.set(seen, value);
  return value;
}
