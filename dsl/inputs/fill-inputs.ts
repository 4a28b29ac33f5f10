/**
 * `${{ inputs.NAME }}` as a whole value: it keeps the type of the input, wherever a job takes a value.
 * Owns which places it may stand in; an expression inside a text is filled with the items (../plan/interpolate.ts).
 */
import { didYouMean } from '../check/nearest-name.ts';
import { quote } from '../read/quote.ts';
import type { Report } from '../check/report.ts';
import { isFilledLater } from '../check/template-fields.ts';
import { childOf, entriesOf, type Tree, type TreePath, type TreeScalar } from '../read/tree.ts';
import type { ResolvedInputs } from './resolve-inputs.ts';

/** Identity and declarations are what they are: a plan is known by them before there are values. */
const FIXED_KEYS: ReadonlySet<string> = new Set(['kind', 'version', 'name', 'extends', 'inputs', 'secrets']);
const WHOLE = /^\$\{\{\s*inputs\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}$/;

export function fillInputs(root: Tree, inputs: ResolvedInputs, report: Report): Tree {
  if (root.kind !== 'map') return root;
  const entries = root.entries.map((entry) =>
    FIXED_KEYS.has(entry.key)
      ? entry
      : { ...entry, value: fill(entry.value, [entry.key], { inputs, report }) },
  );
  return { ...root, entries };
}

interface FillContext {
  readonly inputs: ResolvedInputs;
  readonly report: Report;
}

function fill(tree: Tree, at: TreePath, context: FillContext): Tree {
  switch (tree.kind) {
    case 'map': {
      const entries = tree.entries.map((entry) => ({
        ...entry,
        value: fill(entry.value, [...at, entry.key], context),
      }));
      return { ...tree, entries };
    }
    case 'list':
      return { ...tree, items: tree.items.map((item, index) => fill(item, [...at, index], context)) };
    case 'scalar':
      return fillScalar(tree, at, context);
  }
}

function fillScalar(tree: TreeScalar, at: TreePath, { inputs, report }: FillContext): TreeScalar {
  const { types, values } = inputs;
  const name = typeof tree.value === 'string' ? WHOLE.exec(tree.value)?.[1] : undefined;
  if (name === undefined) return tree;
  if (types !== null && !Object.hasOwn(types, name))
    addUnknown(name, tree, { known: Object.keys(types), report });
  const value = values.get(name);
  if (value === undefined) return { ...tree, open: true };
  // What is filled in is never read again, also where the text is a template; elsewhere it is taken as it is.
  const kept = typeof value === 'string' && isFilledLater(at) ? literal(value) : value;
  return { ...tree, value: kept, source: String(kept), plain: typeof value !== 'string' };
}

/** A function, because `$$` in a replacement is one `$`. */
function literal(text: string): string {
  return text.replaceAll('${{', () => '$${{');
}

function addUnknown(
  name: string,
  tree: TreeScalar,
  { known, report }: { readonly known: readonly string[]; readonly report: Report },
): void {
  const list = known.length === 0 ? 'declare it under "inputs"' : `its inputs are ${known.join(', ')}`;
  report.add('JOB406', tree.span, `this job has no input ${quote(name)}`, {
    remedy: didYouMean(name, known, list),
  });
}

/** A parameter that changes nothing is a slip, or a leftover. */
export function lintInputs(root: Tree, { types }: ResolvedInputs, report: Report): void {
  const declared = entriesOf(childOf(root, 'inputs'));
  if (declared.length === 0 || types === null) return;
  const used = new Set<string>();
  for (const { key, value } of entriesOf(root)) if (!FIXED_KEYS.has(key)) collectUses(value, used);
  // A name that does not exist was probably meant to be one of these.
  if ([...used].some((name) => !Object.hasOwn(types, name))) return;
  for (const { key, keySpan } of declared) {
    if (used.has(key)) continue;
    report.add('JOB512', keySpan, `the input ${quote(key)} is never used`, {
      remedy: `write \${{ inputs.${key} }} where its value belongs, or remove it`,
    });
  }
}

function collectUses(tree: Tree, used: Set<string>): void {
  switch (tree.kind) {
    case 'map':
      return tree.entries.forEach(({ value }) => collectUses(value, used));
    case 'list':
      return tree.items.forEach((item) => collectUses(item, used));
    case 'scalar':
      for (const match of String(tree.value).matchAll(/\binputs\.([A-Za-z_][A-Za-z0-9_]*)/g))
        used.add(match[1] ?? '');
  }
}
