/**
 * What to say about a key that is not known where it stands.
 * Owns the map of all keys of the language, taken from the schema, and the search in it.
 */
import { z } from 'zod';

import { nearestName } from './nearest-name.ts';
import { unwrap } from './normalise.ts';
import { quote } from './quote.ts';
import { jobSchema } from './schema/job-schema.ts';
import type { TreePath } from './tree.ts';

/** A level of the language: `''` is the top, `conversations[].limits` is the limits of a conversation. */
interface Level {
  readonly path: string;
  readonly keys: readonly string[];
}

/** Words of other tools for things that a job calls otherwise. */
const SYNONYMS: Readonly<Record<string, string>> = {
  timeout: 'working time is "limits.working" of a conversation, wall time is "wait.deadline"',
  parallel: 'conversations in flight are "admission.concurrency"',
  parallelism: 'conversations in flight are "admission.concurrency"',
  max_parallel: 'conversations in flight are "admission.concurrency"',
  repository: 'write "repo"',
  env: 'environment variables of the agent are "secrets" of a conversation',
  tasks: 'write "conversations"',
  jobs: 'write "conversations"',
  steps: 'write "conversations"',
  task: 'write "prompt"',
  instructions: 'write "prompt"',
  message: 'write "prompt"',
  retries: 'write "retry", a list of rules',
  on_failure: 'retries are "retry", clean-up is "cleanup"',
  max_cost: 'write "limits.usd" for one conversation, "budget.usd" for the run',
  artifacts: 'write "collect"',
  outputs: 'write "collect"',
};

const LIMIT_OF_DEPLOYMENT =
  /^(?:idle|deletion|delete_?after|auto_?(?:delete|stop|pause)|(?:max_?)?session|max_?idle)(?:_?(?:time|timeout|limit|length|duration|seconds|secs|minutes|hours|max|pause|after|ttl))*(?:_?(?:s|ms|seconds|minutes|hours))?$/;

/** Keys that other systems have for what D10 keeps out of a job. */
export function isDeploymentLimit(key: string): boolean {
  return LIMIT_OF_DEPLOYMENT.test(
    key
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .replaceAll('-', '_'),
  );
}

export interface KeyAdvice {
  readonly remedy: string;
  /** The key of the same map that was probably meant, or null. */
  readonly meant: string | null;
  /** Nothing better was found than the list of keys. */
  readonly vague: boolean;
}

/** How the key could be corrected. `allowed` are the keys of the map it stands in. */
export function adviseKey(key: string, at: TreePath, allowed: readonly string[]): KeyAdvice {
  const here = levelPath(at);
  const synonym = Object.hasOwn(SYNONYMS, key) ? SYNONYMS[key] : undefined;
  if (synonym !== undefined) return { remedy: synonym, meant: null, vague: false };
  const exact = nearbyFirst(here).find((level) => level.keys.includes(key));
  if (exact) return { remedy: `it belongs ${under(exact.path)}`, meant: null, vague: false };
  const near = nearestName(key, allowed);
  if (near !== null) return { remedy: `did you mean ${quote(near)}?`, meant: near, vague: false };
  for (const level of nearbyFirst(here)) {
    const other = nearestName(key, level.keys);
    if (other === null || other.length < 5) continue;
    return {
      remedy: `did you mean ${quote(other)}? It belongs ${under(level.path)}`,
      meant: null,
      vague: false,
    };
  }
  return { remedy: `allowed here: ${allowed.join(', ')}`, meant: null, vague: true };
}

/** Where a key stands, in words: `at the top level`, `in a conversation`, `under "limits"`. */
export function whereIs(at: TreePath): string {
  const path = levelPath(at);
  if (path === '') return 'at the top level';
  return path === 'conversations[]' ? 'in a conversation' : `under ${quote(nameOf(path))}`;
}

function under(path: string): string {
  if (path === '') return 'at the top level';
  if (path === 'conversations[]') return 'in a conversation, or under "defaults"';
  const inConversation = path.startsWith('conversations[].');
  return `under ${quote(nameOf(path))}${inConversation ? ' of a conversation' : ''}`;
}

function nameOf(path: string): string {
  return path.replace('conversations[].', '').replaceAll('[]', '').replaceAll('.*', '');
}

/** `['conversations', 3, 'limits']` as `conversations[].limits`. */
function levelPath(at: TreePath): string {
  return at.reduce<string>((path, step) => {
    if (typeof step === 'number') return `${path}[]`;
    const name = path === 'secrets' ? '*' : step;
    return path === '' ? name : `${path}.${name}`;
  }, '');
}

/** Children of the level first, then its parents, then all others in the order of the language. */
function nearbyFirst(here: string): readonly Level[] {
  const others = levels().filter((level) => level.path !== here && !level.path.includes('*'));
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

let allLevels: readonly Level[] | null = null;

function levels(): readonly Level[] {
  allLevels ??= collectLevels(jobSchema, '');
  return allLevels;
}

function collectLevels(schema: z.core.$ZodType, path: string): Level[] {
  const bare = unwrap(schema);
  if (bare instanceof z.ZodArray) return collectLevels(bare.element, `${path}[]`);
  if (bare instanceof z.ZodRecord) return collectLevels(bare.valueType, `${path}.*`);
  if (!(bare instanceof z.ZodObject)) return [];
  const shape = Object.entries<z.core.$ZodType>(bare.shape);
  const inside = shape.flatMap(([key, field]) => collectLevels(field, path === '' ? key : `${path}.${key}`));
  return [{ path, keys: shape.map(([key]) => key) }, ...inside];
}

/** The keys that a map at this place may have; none where keys are names of the user. */
export function keysAt(at: TreePath): readonly string[] {
  return levels().find((level) => level.path === levelPath(at))?.keys ?? [];
}
