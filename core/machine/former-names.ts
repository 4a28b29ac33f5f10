/**
 * What older builds stored and sent: today's values under the names that they had then.
 * Owns the names, for a store that is migrated and for histories that are replayed; what has the names of today stays
 * as it is, and so does the order of its fields. Must not know what a value means.
 */

type Fields = Readonly<Record<string, unknown>>;

const OF_EVENTS: Readonly<Record<string, string>> = { birth: 'spec', wishes: 'directives' };
const OF_STATES: Readonly<Record<string, string>> = { birth: 'spec', standing: 'byPhase' };
const OF_INPUTS: Readonly<Record<string, string>> = { letter: 'envelope' };
const EVENT_TYPES: Readonly<Record<string, string>> = { itemsWished: 'itemsDirected' };

/** For searches of stored text. */
export const FORMER_EVENT_TYPES: readonly string[] = Object.keys(EVENT_TYPES);

/** Null, no event, stays as it is. */
export function eventInPresentNames<Event>(event: Event): Event {
  if (!isFields(event)) return event;
  const named = renamed(event, OF_EVENTS);
  return withWord(named, 'type', EVENT_TYPES) as Event;
}

/** The state of any machine, whole or its head; null stays so. */
export function stateInPresentNames<State>(state: State): State {
  return isFields(state) ? (renamed(state, OF_STATES) as State) : state;
}

/** An input of an entity, with the event in it. */
export function inputInPresentNames<Input>(input: Input): Input {
  if (!isFields(input)) return input;
  const named = withWord(renamed(input, OF_INPUTS), 'kind', OF_INPUTS);
  const { envelope, event } = named;
  if (isFields(envelope)) {
    const opened = { ...envelope, event: eventInPresentNames(envelope['event']) };
    return { ...named, envelope: opened } as Input;
  }
  return (isFields(event) ? { ...named, event: eventInPresentNames(event) } : named) as Input;
}

function renamed(fields: Fields, names: Readonly<Record<string, string>>): Fields {
  if (!Object.keys(fields).some((name) => Object.hasOwn(names, name))) return fields;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value]));
}

function withWord(fields: Fields, key: string, words: Readonly<Record<string, string>>): Fields {
  const word = fields[key];
  const now = typeof word === 'string' && Object.hasOwn(words, word) ? words[word] : undefined;
  return now === undefined ? fields : { ...fields, [key]: now };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
