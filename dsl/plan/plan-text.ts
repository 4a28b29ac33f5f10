/**
 * The text that the hashes of a plan and of its items are taken over: that of core/canonical-json.ts, piece by piece.
 * Owns the short way for items, of which a plan has up to 100,000; must not give another text than that one.
 */
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import { canonicalJson } from '../../core/canonical-json.ts';

/** What an item holds besides its hash and its position. */
export type ItemSpec = Omit<PlanItem, 'index' | 'specHash' | 'whole'>;

/**
 * Every field of an item; the type check fails when one is missing here. `shared`: what the items of one conversation
 * have alike, as one object.
 */
const FIELDS: Readonly<Record<keyof PlanItem, 'own' | 'shared'>> = {
  affinity: 'own',
  agent: 'own',
  awaits: 'own',
  collect: 'shared',
  confirmation: 'own',
  entry: 'own',
  index: 'own',
  issue: 'own',
  key: 'own',
  limits: 'shared',
  matrix: 'shared',
  model: 'own',
  needs: 'shared',
  observability: 'own',
  plugins: 'shared',
  priority: 'own',
  prompt: 'own',
  repeat: 'own',
  repository: 'own',
  retry: 'shared',
  scores: 'shared',
  secrets: 'shared',
  setup: 'shared',
  specHash: 'own',
  tags: 'own',
  verify: 'shared',
  wait: 'shared',
  whole: 'own',
};
const FIELD_TEXTS = (Object.keys(FIELDS) as (keyof PlanItem)[])
  .sort()
  .map((name) => ({ name, text: `"${name}":`, isShared: FIELDS[name] === 'shared' }));

/** Pieces are joined up to this size: one by one they would cost more than what is hashed. */
const PIECE_CHARS = 64 * 1024;

/** By object, as long as that lives: written once, not once for every item. */
const known = new WeakMap<object, string>();

/** The canonical JSON of an item, or of its spec. */
export function itemText(item: ItemSpec & Partial<Pick<PlanItem, 'index' | 'specHash' | 'whole'>>): string {
  let text = '';
  let count = 0;
  for (const field of FIELD_TEXTS) {
    const value = item[field.name];
    if (value === undefined) continue;
    count += 1;
    const written = field.isShared ? sharedText(value) : canonicalJson(value);
    text += `${text === '' ? '' : ','}${field.text}${written}`;
  }
  // A plan from a file may hold what no plan holds: its hash must not be that of a plan without it.
  return count === Object.keys(item).length ? `{${text}}` : canonicalJson(item);
}

function sharedText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return canonicalJson(value);
  const before = known.get(value);
  if (before !== undefined) return before;
  const text = canonicalJson(value);
  known.set(value, text);
  return text;
}

/** The canonical JSON of a plan in pieces, in order: as one text it takes more memory than the plan. */
export function* planPieces(plan: Omit<Plan, 'hash'>): Generator<string> {
  const fields = plan as unknown as Readonly<Record<string, unknown>>;
  let piece = '{';
  let isFirst = true;
  for (const name of Object.keys(fields).sort()) {
    if (fields[name] === undefined) continue;
    piece += `${isFirst ? '' : ','}${JSON.stringify(name)}:`;
    isFirst = false;
    if (name !== 'items' || !plan.items.every(isMapValue)) {
      piece += canonicalJson(fields[name]);
      continue;
    }
    let separator = '[';
    for (const item of plan.items) {
      piece += separator + itemText(item);
      separator = ',';
      if (piece.length < PIECE_CHARS) continue;
      yield piece;
      piece = '';
    }
    piece += plan.items.length === 0 ? '[]' : ']';
  }
  yield `${piece}}`;
}

/** A value that has keys: neither a list nor null. */
export function isMapValue(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** SHA-256 from outside: the language itself reaches for nothing of Node. */
export interface Hasher {
  /** Lower-case hex SHA-256 of the UTF-8 bytes. */
  sha256(text: string): string;
  /** The same of pieces one behind the other; absent where the caller hashes no long texts. */
  sha256Of?(pieces: Iterable<string>): string;
}

/** The hash of a plan, over every other field of it. */
export function hashPlan(plan: Omit<Plan, 'hash'>, hasher: Hasher): string {
  const pieces = planPieces(plan);
  return hasher.sha256Of?.(pieces) ?? hasher.sha256([...pieces].join(''));
}
