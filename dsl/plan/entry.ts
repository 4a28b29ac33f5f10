/**
 * One entry of `conversations` on its way to items, and what it is expanded with.
 * Owns the two shapes.
 */
import type { CheckContext } from '../check/check-context.ts';
import type { PromptFiles } from '../check/check-prompts.ts';
import type { EntryScope } from './entry-scope.ts';
import type { ConversationDocument } from '../schema/conversation-schema.ts';
import type { JobDocument } from '../schema/job-schema.ts';
import type { Tree } from '../read/tree.ts';

export interface ExpandContext extends CheckContext {
  /** With what holds for every conversation that does not say otherwise. */
  readonly job: JobDocument;
  readonly prompts: PromptFiles;
  /** Template by which items share sandboxes of the pool; absent without one. */
  readonly affinity?: string;
  /** Called for every item, in order; absent where the caller does not trace the origins of values. */
  readonly onItem?: (trace: ItemTrace) => void;
}

/** What one item was made from. */
export interface ItemTrace {
  /** In the list of conversations. */
  readonly entryIndex: number;
  /** Entries of `extend` that count, in order. */
  readonly extensions: readonly number[];
  /** The row of its data file; null without one. */
  readonly row: { readonly file: string; readonly line: number } | null;
}

/** One entry of `conversations`, with its defaults. */
export interface Entry {
  readonly conversation: ConversationDocument;
  readonly tree: Tree;
  readonly scope: EntryScope;
  /** In the list of the file. */
  readonly index: number;
}
