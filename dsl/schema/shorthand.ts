/**
 * Short spellings and how they become the one long form the schema knows.
 * Owns the rewriting of single values; normalise.ts walks the file, json-schema.ts shows both spellings.
 */
import { z } from 'zod';

import { quote } from '../read/quote.ts';
import type { Report } from '../check/report.ts';
import {
  childOf,
  mapNode,
  textNode,
  type Tree,
  type TreeEntry,
  type TreeMap,
  type TreeScalar,
} from '../read/tree.ts';
import { AXIS_NAME, LOCAL_PATH, SECRET_NAME, WEBHOOK } from './text-rule.ts';

export type JsonSchema = Record<string, unknown>;

/** The one thing a rewriting does to a report; a whole report in a registry of schemas would name the schemas again. */
export type Findings = Pick<Report, 'add'>;

/** What a rewriting may say: it knows the report, and how unknown keys are worded. */
export interface Speaker {
  readonly report: Findings;
  unknownKey(entry: TreeEntry, allowed: readonly string[]): void;
}

export interface Shorthand {
  /** The long form; what is no shorthand is returned as it is. Positions stay those of the text. */
  normalise(tree: Tree, speaker: Speaker): Tree;
  /** What an editor should accept, given the schema of the long form. */
  jsonSchema(long: JsonSchema): JsonSchema;
}

export const SHORTHANDS = z.registry<Shorthand>();

const isText = (tree: Tree): tree is TreeScalar => tree.kind === 'scalar' && typeof tree.value === 'string';

/** A scalar stands for a map with one key. */
export function scalarAs(key: string): Shorthand {
  return {
    normalise: (tree) =>
      tree.kind === 'scalar' && tree.value !== null ? mapNode(tree.span, { [key]: tree }) : tree,
    jsonSchema: (long) => ({ anyOf: [(long['properties'] as Record<string, JsonSchema>)[key], long] }),
  };
}

/** Numbers and text are taken as written: amounts are never floats, durations never lose a digit. */
export const asWritten: Shorthand = {
  normalise: (tree) => (tree.kind === 'scalar' && typeof tree.value === 'number' ? sourceNode(tree) : tree),
  jsonSchema: (long) => long,
};

/** An amount may stand without quotes; as a number it reaches an editor without its text. */
export function amountAsWritten(number: JsonSchema): Shorthand {
  return {
    ...asWritten,
    jsonSchema: ({ description, ...own }) => anyOf({ description }, [own, { type: 'number', ...number }]),
  };
}

/** A number may stand as one, or as text that is filled later. */
export function numberAsWritten(number: JsonSchema): Shorthand {
  return {
    ...asWritten,
    jsonSchema: (long) => anyOf(long, [number, { type: 'string', pattern: INTERPOLATED_PATTERN }]),
  };
}

/** Text that holds an interpolation, for editors. */
const INTERPOLATED_PATTERN = '\\$\\{\\{';

/** Tags, labels and axis values are text; numbers and booleans that lose nothing are taken as written. */
export const asText: Shorthand = {
  normalise(tree, { report }) {
    if (tree.kind !== 'scalar') return tree;
    if (tree.plain && /^(?:yes|no|on|off)$/i.test(tree.source)) {
      report.add('JOB504', tree.span, `other YAML readers take an unquoted ${tree.source} as true or false`, {
        remedy: `write "${tree.source}" in quotes`,
      });
    }
    loseNothing(tree, report);
    return tree.source === '' && tree.value === null ? tree : sourceNode(tree);
  },
  jsonSchema: (long) => ({ anyOf: [long, { type: ['number', 'boolean'] }] }),
};

/** One word stands for a list of one. */
export const listOfOne: Shorthand = {
  normalise: (tree) => (isText(tree) ? { kind: 'list', span: tree.span, items: [tree] } : tree),
  jsonSchema: (long) => ({ anyOf: [long['items'] as JsonSchema, long] }),
};

/** A list of names stands for a map of each name to itself. */
export const namesAsMap: Shorthand = {
  normalise(tree, { report }) {
    if (tree.kind !== 'list') return tree;
    const entries = tree.items
      .filter(isText)
      .map((item) => ({ key: item.source, keySpan: item.span, value: item }));
    for (const item of tree.items.filter((other) => !isText(other))) {
      report.add('JOB203', item.span, 'a list of secrets holds names only', {
        remedy: 'write NAME: secret to rename one',
      });
    }
    return { kind: 'map', span: tree.span, entries };
  },
  jsonSchema: (long) => ({
    anyOf: [{ type: 'array', items: long['propertyNames'] ?? { type: 'string' } }, long],
  }),
};

/** `word` or `{key: value}` as `{discriminator: word}` or `{discriminator: key, field: value}`. */
export function wordOrMap(options: {
  readonly discriminator: string;
  readonly words: readonly string[];
  /** The one key that takes a value, and the field it fills. */
  readonly keyed: { readonly key: string; readonly field: string; readonly schema: JsonSchema };
}): Shorthand {
  const { discriminator, words, keyed } = options;
  return {
    normalise(tree, speaker) {
      if (isText(tree)) return mapNode(tree.span, { [discriminator]: tree });
      const value = childOf(tree, keyed.key);
      if (tree.kind !== 'map' || value === undefined) return refuseOther(tree, speaker, options);
      refuseBeside(tree, [keyed.key], speaker);
      return mapNode(tree.span, { [discriminator]: textNode(keyed.key, tree.span), [keyed.field]: value });
    },
    jsonSchema: (long) =>
      anyOf(long, [{ type: 'string', enum: [...words] }, closedMap({ [keyed.key]: keyed.schema })]),
  };
}

/** `{diff: …}` or `{fils: …}`: said here, and replaced by a word that passes so that nothing is said twice. */
function refuseOther(tree: Tree, speaker: Speaker, options: Parameters<typeof wordOrMap>[0]): Tree {
  const first = tree.kind === 'map' ? tree.entries[0] : undefined;
  if (first === undefined) return tree;
  if (options.words.includes(first.key)) {
    const remedy = `write ${first.key} alone`;
    speaker.report.add('JOB203', first.keySpan, `${quote(first.key)} takes no value`, { remedy });
  } else speaker.unknownKey(first, [options.keyed.key]);
  return mapNode(tree.span, { [options.discriminator]: textNode(options.words[0] ?? '', tree.span) });
}

function refuseBeside(tree: TreeMap, keys: readonly string[], speaker: Speaker): void {
  for (const entry of tree.entries) if (!keys.includes(entry.key)) speaker.unknownKey(entry, keys);
}

/** Text stands for an inline prompt; `{file: path}` for a prompt of a file. */
export const promptForm: Shorthand = {
  normalise(tree, speaker) {
    if (tree.kind === 'scalar' && tree.value !== null) {
      return mapNode(tree.span, { from: textNode('text', tree.span), text: tree });
    }
    if (tree.kind !== 'map') return tree;
    refuseBeside(tree, ['file', 'vars'], speaker);
    const file = childOf(tree, 'file');
    const vars = childOf(tree, 'vars');
    if (file !== undefined) {
      const long = { from: textNode('file', tree.span), path: file };
      return mapNode(tree.span, vars === undefined ? long : { ...long, vars });
    }
    if (tree.entries.length === 0)
      speaker.report.add('JOB202', tree.span, 'a prompt is text, or {file: path}');
    return mapNode(tree.span, { from: textNode('text', tree.span), text: textNode(' ', tree.span) });
  },
  jsonSchema: (long) =>
    anyOf(long, [
      { type: 'string' },
      closedMap({
        file: {
          type: 'string',
          pattern: LOCAL_PATH.pattern.source,
          description: 'File with the prompt, relative to the job.',
        },
        vars: {
          type: 'object',
          description: 'Values for {{name}} in the file.',
          propertyNames: { pattern: AXIS_NAME.pattern.source },
          additionalProperties: { type: ['string', 'number', 'boolean'] },
        },
      }),
    ]),
};

/** Text stands for an address; `{secret: NAME}` for one that a secret holds. */
export const addressForm: Shorthand = {
  normalise(tree, speaker) {
    if (tree.kind === 'scalar' && tree.value !== null)
      return mapNode(tree.span, { from: textNode('url', tree.span), url: tree });
    if (tree.kind !== 'map') return tree;
    refuseBeside(tree, ['secret'], speaker);
    const secret = childOf(tree, 'secret');
    if (secret !== undefined) return mapNode(tree.span, { from: textNode('secret', tree.span), secret });
    if (tree.entries.length === 0)
      speaker.report.add('JOB202', tree.span, 'an address is text, or {secret: NAME}');
    return mapNode(tree.span, { from: textNode('url', tree.span), url: textNode('https://x', tree.span) });
  },
  jsonSchema: (long) =>
    anyOf(long, [
      { type: 'string', pattern: WEBHOOK.pattern.source },
      closedMap({
        secret: {
          type: 'string',
          pattern: SECRET_NAME.pattern.source,
          description: 'Secret that holds the address.',
        },
      }),
    ]),
};

/** Whether reading a scalar as YAML keeps its text; adds JOB209 when it does not. */
export function loseNothing(tree: TreeScalar, report: Findings): boolean {
  const lost =
    tree.plain && typeof tree.value !== 'string' && tree.source !== '' && String(tree.value) !== tree.source;
  if (!lost) return true;
  const read = tree.value === null ? 'no value' : quote(String(tree.value)).slice(1, -1);
  report.add('JOB209', tree.span, `YAML reads ${tree.source} as ${read}`, {
    remedy: `write "${tree.source}" in quotes`,
  });
  return false;
}

function sourceNode(tree: TreeScalar): TreeScalar {
  return typeof tree.value === 'string' ? tree : { ...tree, value: tree.source };
}

/** What the schema describes, in any of these forms. */
export function anyOf({ description }: JsonSchema, forms: readonly unknown[]): JsonSchema {
  return { ...(description === undefined ? {} : { description }), anyOf: forms };
}

/** A map of these keys and no others; the first must stand in it. */
export function closedMap(properties: JsonSchema): JsonSchema {
  const required = Object.keys(properties).slice(0, 1);
  return { type: 'object', properties, required, additionalProperties: false };
}
