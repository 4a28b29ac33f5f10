/**
 * Each effective value of a compiled job with its origin.
 * Owns the search: which part of the job a value was taken from, and what its expressions read.
 */
import type { Plan } from '../../core/plan/plan.ts';
import type { ItemTrace } from '../plan/entry.ts';
import type { Report } from '../check/report.ts';
import { expressionsIn } from '../plan/template.ts';
import { childOf, itemsOf, treeAt, type Tree } from '../read/tree.ts';
import type { GivenInputs } from '../world.ts';
import { ITEM_FIELDS, pathOf, RUN_FIELDS, valueAt, type PlanField } from './fields.ts';
import type { EffectiveValue, Origin, PlanOrigins, Source } from './origin.ts';

export interface Compiled {
  readonly plan: Plan;
  /** In long form, with what it inherits. */
  readonly root: Tree;
  readonly report: Report;
  /** Of every item, in the order of the plan. */
  readonly traces: readonly ItemTrace[];
  readonly given: GivenInputs;
}

/** The values of a plan that was saved. */
export function savedOrigins(plan: Plan): PlanOrigins {
  const saved: Search = { owners: [], look: null };
  const inputs = Object.entries(plan.inputs ?? {}).map(([name, value]): EffectiveValue => {
    const key = `inputs.${name}`;
    return { key, field: key, value, origin: unwritten('plan') };
  });
  return {
    run: [...inputs, ...RUN_FIELDS.flatMap((field) => valuesOf(plan, field, saved))],
    item: (index) => ITEM_FIELDS.flatMap((field) => valuesOf(plan.items[index] ?? {}, field, saved)),
  };
}

export function planOrigins(compiled: Compiled): PlanOrigins {
  const { plan, root } = compiled;
  const top: Search = { owners: [{ tree: root, under: null }], look: { ...compiled, trace: null } };
  return {
    run: [...inputValues(compiled), ...RUN_FIELDS.flatMap((field) => valuesOf(plan, field, top))],
    item(index) {
      const item = plan.items[index];
      const trace = compiled.traces[index];
      if (item === undefined || trace === undefined) return [];
      const look = { ...compiled, trace };
      const own: Search = { owners: ownersOf(root, trace), look };
      const searches = {
        only: { owners: top.owners, look },
        too: { owners: [...own.owners, ...top.owners], look },
      };
      return ITEM_FIELDS.flatMap((field) =>
        valuesOf(item, field, field.ofRun === undefined ? own : searches[field.ofRun]),
      );
    },
  };
}

/** A part of the job that can give a value: the first that has it does. */
interface Owner {
  readonly tree: Tree | undefined;
  readonly under: Origin['under'];
}

interface Search {
  readonly owners: readonly Owner[];
  /** Null where there is no job to search. */
  readonly look: Look | null;
}

interface Look extends Pick<Compiled, 'report' | 'given'> {
  /** Null for the run as a whole. */
  readonly trace: ItemTrace | null;
}

function ownersOf(root: Tree, { entryIndex, extensions }: ItemTrace): Owner[] {
  const conversation = itemsOf(childOf(root, 'conversations'))[entryIndex];
  const sets = extensions.map((index): Owner => ({
    tree: treeAt(conversation, ['extend', index, 'set']),
    under: 'extend',
  }));
  return [
    ...sets.reverse(),
    { tree: conversation, under: null },
    { tree: childOf(root, 'defaults'), under: 'defaults' },
  ];
}

/** The value of an input comes from the caller that gave one; its declaration stands in the job. */
function inputValues(compiled: Compiled): EffectiveValue[] {
  const { plan, root, report } = compiled;
  return Object.entries(plan.inputs ?? {}).map(([name, value]) => {
    const declared = treeAt(root, ['inputs', name]);
    const source = inputSource(name, compiled.given);
    const place = declared === undefined ? null : report.placeOf(declared.span);
    const kind = declared === undefined ? 'default' : kindOf(declared, report);
    const key = `inputs.${name}`;
    return { key, field: key, value, origin: { kind, place, under: null, from: [source] } };
  });
}

function valuesOf(owner: object, field: PlanField, search: Search): EffectiveValue[] {
  const value = valueAt(owner, field.field);
  if (field.isMap !== true) {
    if (value === undefined && (field.ofRun !== undefined || parentIsAbsent(owner, field))) return [];
    return [
      { key: field.keys[0] ?? '', field: field.field, value: value ?? null, origin: originOf(field, search) },
    ];
  }
  return Object.entries((value ?? {}) as object).map(([name, entry]: [string, unknown]) => {
    const own = { ...field, keys: field.keys.map((key) => `${key}.${name}`) };
    return {
      key: own.keys[0] ?? '',
      field: `${field.field}.${name}`,
      value: entry,
      origin: originOf(own, search),
    };
  });
}

/** Without a budget there is no mode of it. */
function parentIsAbsent(owner: object, { field }: PlanField): boolean {
  const dot = field.lastIndexOf('.');
  return dot !== -1 && (valueAt(owner, field.slice(0, dot)) ?? null) === null;
}

function originOf({ keys, otherwise }: PlanField, { owners, look }: Search): Origin {
  if (look === null) return unwritten('plan');
  for (const { tree, under } of owners) {
    const written = keys.map((key) => treeAt(tree, pathOf(key))).find((found) => found !== undefined);
    if (written === undefined) continue;
    const { report } = look;
    return {
      kind: kindOf(written, report),
      place: report.placeOf(written.span),
      under,
      from: sourcesIn(written, look),
    };
  }
  return unwritten(otherwise ?? 'default');
}

function unwritten(kind: Origin['kind']): Origin {
  return { kind, place: null, under: null, from: [] };
}

function kindOf({ span }: Tree, report: Report): 'job' | 'extends' {
  return report.placeOf(span).file === report.fileAt(0) ? 'job' : 'extends';
}

const NAME = /\b(inputs|item|matrix)\s*\.\s*([A-Za-z_][A-Za-z0-9_]*)/g;

/** What the text as it stands in the file refers to; each once. */
function sourcesIn(tree: Tree, { report, given, trace }: Look): Source[] {
  const text = report.text.slice(tree.span.start, tree.span.end);
  const found = new Map<string, Source>();
  for (const { source } of expressionsIn(text))
    for (const [name, group, member = ''] of source.matchAll(NAME)) {
      const one = sourceOf(group ?? '', member, { given, trace });
      if (one !== null) found.set(name, one);
    }
  return [...found.values()];
}

function sourceOf(
  group: string,
  name: string,
  { given, trace }: { readonly given: GivenInputs; readonly trace: ItemTrace | null },
): Source | null {
  if (group === 'inputs') return inputSource(name, given);
  if (group === 'matrix') return { kind: 'axis', name };
  const row = trace?.row ?? null;
  return row === null ? null : { kind: 'row', file: row.file, line: row.line, column: name };
}

function inputSource(name: string, { typed, values }: GivenInputs): Source {
  const given = Object.hasOwn(typed, name) ? 'typed' : Object.hasOwn(values, name) ? 'file' : 'default';
  return { kind: 'input', name, given };
}
