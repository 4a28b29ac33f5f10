/**
 * Shorthands to long forms, and scalars that lose their text: one walk of the file beside its schema.
 * Owns the walk; the rewriting of a value is registered with its schema (schema/shorthand.ts).
 */
import { z } from 'zod';

import type { Report } from '../check/report.ts';
import { loseNothing, SHORTHANDS, type Speaker } from '../schema/shorthand.ts';
import { childOf, textOf, type Tree, type TreeEntry, type TreePath } from './tree.ts';

/** What the walk may say, and where it is. */
interface Walk {
  readonly report: Report;
  readonly at: TreePath;
  unknownKey(entry: TreeEntry, at: TreePath, allowed: readonly string[]): void;
}

/** The tree in long form. Parts that do not fit the schema are kept as they are: the schema will say so. */
export function normalise(tree: Tree, schema: z.core.$ZodType, walk: Walk): Tree {
  const bare = unwrap(schema);
  const shorthand = SHORTHANDS.get(bare as z.ZodType);
  const long = shorthand ? shorthand.normalise(tree, speakerOf(walk)) : tree;
  if (bare instanceof z.ZodString) return normaliseText(long, shorthand !== undefined, walk);
  if (bare instanceof z.ZodDiscriminatedUnion) return normaliseUnion(long, bare, walk);
  return normaliseInside(long, bare, walk);
}

function inside(walk: Walk, step: string | number): Walk {
  return { ...walk, at: [...walk.at, step] };
}

function speakerOf({ report, at, unknownKey }: Walk): Speaker {
  return { report, unknownKey: (entry, allowed) => unknownKey(entry, at, allowed) };
}

/** The schema without `optional`. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional ? unwrap(schema.unwrap()) : schema;
}

function normaliseInside(tree: Tree, schema: z.core.$ZodType, walk: Walk): Tree {
  if (schema instanceof z.ZodArray && tree.kind === 'list') {
    return {
      ...tree,
      items: tree.items.map((item, index) => normalise(item, schema.element, inside(walk, index))),
    };
  }
  if (tree.kind !== 'map') return tree;
  const schemaOf = fieldSchemas(schema);
  const entries = tree.entries.map((entry) => {
    const field = schemaOf(entry.key);
    return field === undefined
      ? entry
      : { ...entry, value: normalise(entry.value, field, inside(walk, entry.key)) };
  });
  return { ...tree, entries };
}

function fieldSchemas(schema: z.core.$ZodType): (key: string) => z.core.$ZodType | undefined {
  if (schema instanceof z.ZodRecord) return () => schema.valueType;
  if (schema instanceof z.ZodObject) {
    const shape = new Map<string, z.core.$ZodType>(Object.entries(schema.shape));
    return (key) => shape.get(key);
  }
  return () => undefined;
}

function normaliseUnion(tree: Tree, schema: z.ZodDiscriminatedUnion, walk: Walk): Tree {
  const { discriminator } = schema.def;
  const chosen = textOf(childOf(tree, discriminator));
  const option = schema.options.find((one) => {
    const word: unknown = one instanceof z.ZodObject ? one.shape[discriminator] : undefined;
    return word instanceof z.ZodLiteral && word.value === chosen;
  });
  return option ? normaliseInside(tree, option, walk) : tree;
}

/** The text of a scalar that would be lost has its own finding, and the text as written goes on. */
function normaliseText(tree: Tree, rewritten: boolean, walk: Walk): Tree {
  if (rewritten || tree.kind !== 'scalar' || typeof tree.value === 'string') return tree;
  return loseNothing(tree, walk.report) ? tree : { ...tree, value: tree.source };
}
