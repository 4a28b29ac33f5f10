/**
 * What to say about a key that is not known where it stands.
 * Owns the map of all keys of a language, taken from its schema, and the search in it.
 */
import { z } from 'zod';

import type { EntryWords, Language } from '../language.ts';
import { nearestName } from './nearest-name.ts';
import { unwrap } from '../read/normalise.ts';
import { quote } from '../read/quote.ts';
import { SHORTHANDS } from '../schema/shorthand.ts';
import type { TreePath } from '../read/tree.ts';

/** A level of the language: `''` is the top, `conversations[].limits` is the limits of a conversation. */
interface Level {
  readonly path: string;
  readonly keys: readonly string[];
}

interface KeyAdvice {
  readonly remedy: string;
  /** The key of the same map that was probably meant, or null. */
  readonly meant: string | null;
  /** Nothing better was found than the list of keys. */
  readonly vague: boolean;
}

interface UnknownPlace {
  readonly key: string;
  /** The map it stands in. */
  readonly at: TreePath;
  /** The keys of that map. */
  readonly allowed: readonly string[];
}

/** How the key could be corrected. */
export function adviseKey({ key, at, allowed }: UnknownPlace, language: Language): KeyAdvice {
  const here = levelPath(at, language);
  const synonym = Object.hasOwn(language.synonyms, key) ? language.synonyms[key] : undefined;
  if (synonym !== undefined) return { remedy: synonym, meant: null, vague: false };
  const others = nearbyFirst(here, language);
  const exact = others.find((level) => level.keys.includes(key));
  if (exact) return { remedy: `it belongs ${under(exact.path, language)}`, meant: null, vague: false };
  const near = nearestName(key, allowed);
  if (near !== null) return { remedy: `did you mean ${quote(near)}?`, meant: near, vague: false };
  for (const level of others) {
    const other = nearestName(key, level.keys);
    if (other === null || other.length < 5) continue;
    return {
      remedy: `did you mean ${quote(other)}? It belongs ${under(level.path, language)}`,
      meant: null,
      vague: false,
    };
  }
  return { remedy: `allowed here: ${allowed.join(', ')}`, meant: null, vague: true };
}

/** Where a key stands, in words: `at the top level`, `in a conversation`, `under "limits"`. */
export function whereIs(at: TreePath, language: Language): string {
  const path = levelPath(at, language);
  if (path === '') return 'at the top level';
  return language.entries[path]?.where ?? `under ${quote(nameOf(path, language))}`;
}

function under(path: string, language: Language): string {
  if (path === '') return 'at the top level';
  const entry = language.entries[path];
  if (entry !== undefined) return entry.belongs;
  return `under ${quote(nameOf(path, language))}${entryAround(path, language)?.words.of ?? ''}`;
}

function nameOf(path: string, language: Language): string {
  const around = entryAround(path, language)?.prefix ?? '';
  return path.replace(around, '').replaceAll('[]', '').replaceAll('.*', '');
}

/** The list entry that a level lies in, when it has words of its own. */
function entryAround(
  path: string,
  { entries }: Language,
): { readonly prefix: string; readonly words: EntryWords } | null {
  const found = Object.entries(entries).find(([level]) => path.startsWith(`${level}.`));
  return found === undefined ? null : { prefix: `${found[0]}.`, words: found[1] };
}

/** `['conversations', 3, 'limits']` as `conversations[].limits`. */
function levelPath(at: TreePath, { records }: Language): string {
  return at.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[]`;
    const name = records.includes(path) ? '*' : step;
    return path === '' ? name : `${path}.${name}`;
  }, '');
}

/** Children of the level first, then its parents, then all others in the order of the language. */
function nearbyFirst(here: string, language: Language): readonly Level[] {
  const others = levels(language).filter((level) => level.path !== here && !level.path.includes('*'));
  const isChild = (level: Level): boolean => level.path.startsWith(here === '' ? '' : `${here}.`);
  const isParent = (level: Level): boolean => level.path === '' || here.startsWith(level.path);
  const directChild = (level: Level): boolean =>
    isChild(level) && !/[.[]/.test(level.path.slice(here.length + 1));
  const rank = (level: Level): number =>
    (here !== '' && isChild(level)) || directChild(level) ? 0 : isParent(level) ? 1 : 2;
  return others
    .map((level) => ({ level, rank: rank(level) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ level }) => level);
}

const levelsOf = new WeakMap<Language, readonly Level[]>();

function levels(language: Language): readonly Level[] {
  const known = levelsOf.get(language);
  if (known !== undefined) return known;
  const collected = collectLevels(language.schema, '');
  levelsOf.set(language, collected);
  return collected;
}

function collectLevels(schema: z.core.$ZodType, path: string): Level[] {
  const bare = unwrap(schema);
  if (bare instanceof z.ZodArray) return collectLevels(bare.element, `${path}[]`);
  if (bare instanceof z.ZodRecord) return collectLevels(bare.valueType, `${path}.*`);
  if (bare instanceof z.ZodDiscriminatedUnion && !SHORTHANDS.has(bare)) return collectUnion(bare, path);
  if (!(bare instanceof z.ZodObject)) return [];
  const shape = Object.entries<z.core.$ZodType>(bare.shape);
  const inside = shape.flatMap(([key, field]) => collectLevels(field, path === '' ? key : `${path}.${key}`));
  return [{ path, keys: shape.map(([key]) => key) }, ...inside];
}

/** A union that is written in its long form has the keys of all its options. */
function collectUnion(union: z.ZodDiscriminatedUnion, path: string): Level[] {
  const keys = union.options.flatMap((option) =>
    option instanceof z.ZodObject ? Object.keys(option.shape) : [],
  );
  return [{ path, keys: [...new Set(keys)] }];
}

/** The keys that a map at this place may have; none where keys are names of the user. */
export function keysAt(at: TreePath, language: Language): readonly string[] {
  const here = levelPath(at, language);
  return levels(language).find((level) => level.path === here)?.keys ?? [];
}
