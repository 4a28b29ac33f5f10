/**
 * What the shared passes must know of a language to word its findings: its schema, its words, what it refuses by name.
 * Owns the shape; job-language.ts and scenario/scenario-language.ts are the two of them.
 */
import type { z } from 'zod';

import type { RuleCode } from './check/rule-catalogue.ts';
import type { TreePath } from './read/tree.ts';

/** How the entries of a list are spoken of. */
export interface EntryWords {
  /** `in a conversation` */
  readonly where: string;
  /** Where a key belongs that is known there: `in a conversation, or under "defaults"`. */
  readonly belongs: string;
  /** Behind a key inside an entry: ` of a conversation`. */
  readonly of: string;
}

/** A key with a finding of its own instead of "unknown key". */
export interface RefusedKey {
  readonly code: RuleCode;
  readonly message: string;
  readonly remedy: string;
}

export interface Language {
  /** Completes `a …`: `job`, `scenario`. */
  readonly document: string;
  readonly schema: z.ZodObject;
  /** What a file starts with, for an empty one. */
  readonly start: string;
  /** What to write first, for a file that is no map. */
  readonly head: string;
  /** What to write instead of a merge key. */
  readonly instead: string;
  /** Lists whose entries have words of their own, by level: `conversations[]`. */
  readonly entries: Readonly<Record<string, EntryWords>>;
  /** Levels below which keys are names of the user and values are maps: `secrets`. */
  readonly records: readonly string[];
  /** Words of other tools → what to write here. */
  readonly synonyms: Readonly<Record<string, string>>;
  /** Keys whose map has a short form → what they take. */
  readonly eitherForms: Readonly<Record<string, string>>;
  /** What to do about a required key that is missing; null when the message says it. */
  missingRemedy(name: string, at: TreePath): string | null;
  /** Null for a key that is merely unknown. */
  refusedKey(key: string, at: TreePath): RefusedKey | null;
}
