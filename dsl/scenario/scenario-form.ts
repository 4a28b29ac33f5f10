/**
 * Short spellings of scenario files and their long forms.
 * Owns distributions and expressions as they are written; schema/shorthand.ts has those that jobs use as well.
 */
import {
  anyOf,
  asWritten,
  closedMap,
  type JsonSchema,
  type Shorthand,
  type Speaker,
} from '../schema/shorthand.ts';
import { childOf, mapNode, textNode, textOf, type Tree, type TreeMap } from '../read/tree.ts';

/** Keys of each kind of distribution, in its long form. */
const DISTRIBUTION_KEYS = {
  fixed: ['value'],
  uniform: ['min', 'max'],
  lognormal: ['p50', 'p95'],
  exponential: ['mean'],
} as const;

type DistributionKind = keyof typeof DISTRIBUTION_KEYS;

/** `13h` and `{fixed: 13h}` as `{dist: fixed, value: 13h}`. */
export const distributionForm: Shorthand = {
  normalise(tree, speaker) {
    if (tree.kind === 'scalar' && tree.value !== null)
      return mapNode(tree.span, { dist: textNode('fixed', tree.span), value: tree });
    if (tree.kind !== 'map') return tree;
    const fixed = childOf(tree, 'fixed');
    if (fixed !== undefined) {
      refuseOthers(tree, ['fixed'], speaker);
      return mapNode(tree.span, { dist: textNode('fixed', tree.span), value: fixed });
    }
    return distributionMap(tree, speaker);
  },
  jsonSchema(long) {
    const [fixed, ...others] = long['oneOf'] as JsonSchema[];
    const value = (fixed?.['properties'] as Record<string, JsonSchema>)['value'];
    return anyOf(long, [value, closedMap({ fixed: value }), ...others]);
  },
};

/** Unknown keys are said here, where the kind is known, and left out so that nothing is said twice. */
function distributionMap(tree: TreeMap, speaker: Speaker): Tree {
  const kind = textOf(childOf(tree, 'dist'));
  if (kind === null) {
    const first = tree.entries.find(({ key }) => key !== 'dist');
    if (childOf(tree, 'dist') !== undefined || first === undefined) return tree;
    speaker.report.add('JOB202', first.keySpan, 'this does not say which distribution it is', {
      remedy:
        'write {fixed: …}, {dist: uniform, min: …, max: …}, {dist: lognormal, p50: …, p95: …} or {dist: exponential, mean: …}',
    });
    return mapNode(tree.span, { dist: textNode('fixed', tree.span), value: textNode('0', tree.span) });
  }
  if (!isKind(kind) || kind === 'fixed') return tree;
  return withMeant(tree, refuseOthers(tree, ['dist', ...DISTRIBUTION_KEYS[kind]], speaker), kind);
}

/** A key that was refused is probably the one that is missing: it stands in for it, so that one mistake is one finding. */
function withMeant(written: TreeMap, known: TreeMap, kind: DistributionKind): TreeMap {
  const refused = written.entries.filter((entry) => !known.entries.includes(entry));
  const missing = DISTRIBUTION_KEYS[kind].filter((key) => childOf(known, key) === undefined);
  const meant = missing.flatMap((key, index) => {
    const entry = refused[index];
    return entry === undefined ? [] : [{ ...entry, key }];
  });
  return { ...known, entries: [...known.entries, ...meant] };
}

function isKind(word: string): word is DistributionKind {
  return Object.hasOwn(DISTRIBUTION_KEYS, word);
}

function refuseOthers(tree: TreeMap, allowed: readonly string[], speaker: Speaker): TreeMap {
  for (const entry of tree.entries) if (!allowed.includes(entry.key)) speaker.unknownKey(entry, allowed);
  return { ...tree, entries: tree.entries.filter(({ key }) => allowed.includes(key)) };
}

/** `true` and numbers are text as well where an expression stands. */
export const asExpression: Shorthand = {
  normalise: (tree) =>
    tree.kind === 'scalar' && tree.value !== null && typeof tree.value !== 'string'
      ? { ...tree, value: tree.source }
      : tree,
  jsonSchema: (long) => ({ ...long, type: ['string', 'boolean', 'number'] }),
};

/** A number of tokens may stand without a suffix. */
export const tokensAsWritten: Shorthand = {
  ...asWritten,
  jsonSchema: (long) => ({ anyOf: [long, { type: 'integer', minimum: 0, maximum: 999_999_999 }] }),
};
