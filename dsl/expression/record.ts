/**
 * Records that expressions read: values tagged with the name of their type.
 * Owns the tag; the engine distinguishes types of records by their class.
 */
import { RECORD_TYPES } from './context-types.ts';

type RecordClass = new () => object;

const CLASSES: ReadonlyMap<string, RecordClass> = new Map(
  RECORD_TYPES.map(({ name }) => [name, class {} as RecordClass]),
);

/** @throws Error for a type that context-types.ts does not list: a mistake of ours */
export function recordClass(type: string): RecordClass {
  const found = CLASSES.get(type);
  if (found === undefined) throw new Error(`Cannot make a record: there is no type "${type}"`);
  return found;
}

/** A record of the type with these fields. */
export function recordValue(type: string, fields: Readonly<Record<string, unknown>>): object {
  return Object.assign(new (recordClass(type))(), fields);
}

/** Whether the value is a record of any type. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return [...CLASSES.values()].some((type) => value instanceof type);
}
