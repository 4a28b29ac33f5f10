/**
 * What the checks of a scenario are given: the file in long form, even where other parts of it are broken.
 * Owns the types and the walks that several checks share.
 */
import type { Plan } from '../../core/plan/plan.ts';
import { instantFromText } from '../../core/text/instant-text.ts';
import type { Report } from '../check/report.ts';
import { quote } from '../read/quote.ts';
import {
  childOf,
  entryOf,
  itemsOf,
  textOf,
  treeAt,
  type Tree,
  type TreeEntry,
  type TreePath,
} from '../read/tree.ts';
import { INSTANT } from '../schema/text-rule.ts';

export interface ScenarioCheck {
  readonly root: Tree;
  readonly report: Report;
}

export interface PlannedCheck extends ScenarioCheck {
  readonly plan: Plan;
}

/** Maps of a list, as they stand in the file. */
export function listAt(root: Tree, path: TreePath): readonly Tree[] {
  return itemsOf(treeAt(root, path));
}

/** Those of the keys that the map has. */
export function keysOf(tree: Tree, keys: readonly string[]): readonly TreeEntry[] {
  return keys.flatMap((key) => entryOf(tree, key) ?? []);
}

/** Where a map is shown: its first key. */
export function placeOf(tree: Tree): Tree['span'] {
  return tree.kind === 'map' ? (tree.entries[0]?.keySpan ?? tree.span) : tree.span;
}

/** Where a conversation is named in an event: `key`, or `message.to`. */
export function targetKeys(event: Tree): readonly TreeEntry[] {
  const inMessage = entryOf(childOf(event, 'message'), 'to');
  return [...keysOf(event, ['key']), ...(inMessage === undefined ? [] : [inMessage])];
}

/** The instant that a scalar names; null, with a finding where there is no such day, for anything else. */
export function instantAt(tree: Tree | undefined, report: Report): number | null {
  const written = textOf(tree);
  if (tree === undefined || written === null || !INSTANT.pattern.test(written)) return null;
  const at = instantFromText(written);
  if (at === null)
    report.add('SCN206', tree.span, `there is no day ${quote(written.slice(0, 10))}`, {
      remedy: 'correct the day of the month',
    });
  return at;
}
