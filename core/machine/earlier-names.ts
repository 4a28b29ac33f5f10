/**
 * States, events and inputs of entities as builds before 0.2 wrote them, under the names of today.
 * Owns which names have changed; must not change a meaning. Whoever takes in what an earlier build may have written
 * (a store, a history, a message under way) passes it through here.
 */
const KEYS: ReadonlyMap<string, string> = new Map([
  ['birth', 'spec'],
  ['wishes', 'directives'],
  ['letter', 'envelope'],
]);

/** Types of events, and kinds of inputs and of shares of a batch. */
const VALUES: ReadonlyMap<unknown, string> = new Map([
  ['itemsWished', 'itemsDirected'],
  ['letter', 'envelope'],
]);

/** A state, an event or a start task; the same object when nothing in it has an earlier name. */
export function withTodaysNames<Value>(value: Value): Value {
  if (!isRecord(value) || !('birth' in value || 'wishes' in value)) return value;
  return renamed(value, (key, part) => (key === 'type' ? (VALUES.get(part) ?? part) : part));
}

/** A message to an entity. */
export function envelopeWithTodaysNames<Envelope extends { readonly event: unknown }>(
  envelope: Envelope,
): Envelope {
  const event = withTodaysNames(envelope.event);
  return event === envelope.event ? envelope : { ...envelope, event };
}

/** What a batch rests on, or its inputs: an event lies in the input itself or in its envelope. */
export function inputsWithTodaysNames<Input>(inputs: readonly Input[]): readonly Input[] {
  return inputs.map((input) => (isRecord(input) ? renamed(input, inputPart) : input));
}

function inputPart(key: string, part: unknown): unknown {
  switch (key) {
    case 'kind':
      return VALUES.get(part) ?? part;
    case 'event':
      return withTodaysNames(part);
    case 'letter':
    case 'envelope':
      return isRecord(part) ? renamed(part, inputPart) : part;
    default:
      return part;
  }
}

/** In the order of before, so that the text of it compares. */
function renamed<Value>(value: Value & object, part: (key: string, was: unknown) => unknown): Value {
  const entries = Object.entries(value).map(([key, was]) => [KEYS.get(key) ?? key, part(key, was)]);
  return Object.fromEntries(entries) as Value;
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
