/**
 * Random expressions of sound types over the names of two-engines.ts.
 * Owns the grammar; leaves out what the conformance table names as a difference. Must not evaluate.
 */
import fc from 'fast-check';

type Source = fc.Arbitrary<string>;

/** Deeper ones pass the bounds of an expression without saying more. */
const DEPTH_MAX = 3;
/** Beyond ASCII the other engine has letters of its own; the table names it. */
const ASCII = ["'Ab c'", 'tags.team', 'row.repo', 'words[1]'];
const TEXTS = ["''", "'a'", "'core'", "'gold'", "'ä😀'", "'a,b'", "'7'", "'x y'"];

function joined(parts: readonly Source[], write: (...sources: string[]) => string): Source {
  return fc.tuple(...parts).map((sources) => write(...sources));
}

/** `name` is the variable of a macro around it, a whole number; null outside of any. */
interface Place {
  readonly depth: number;
  readonly name: string | null;
}

function below({ depth, name }: Place): Place {
  return { depth: depth - 1, name };
}

function ints(place: Place): Source {
  const leaves: Source[] = [
    fc.integer({ min: -9, max: 99 }).map((value) => `(${value})`),
    fc.constantFrom('many', 'row.size', 'numbers[1]', ...(place.name === null ? [] : [place.name])),
  ];
  if (place.depth === 0) return fc.oneof(...leaves);
  const inner = below(place);
  return fc.oneof(
    ...leaves,
    fc
      .constantFrom('+', '-', '*', '/', '%')
      .chain((op) => joined([ints(inner), ints(inner)], (left, right) => `(${left} ${op} ${right})`)),
    joined([bools(inner), ints(inner), ints(inner)], (asked, yes, no) => `(${asked} ? ${yes} : ${no})`),
    joined([texts(inner)], (text) => `size(${text})`),
    joined([lists(inner)], (list) => `${list}.size()`),
    joined([lists(inner), ints(inner)], (list, at) => `${list}[${at}]`),
    joined([ints(inner)], (value) => `int(string(${value}))`),
    joined([lengths({ depth: 0, name: null })], (length) => `(${length}).getMinutes()`),
  );
}

function doubles(place: Place): Source {
  const leaves: Source[] = [
    fc.integer({ min: 0, max: 40 }).map((value) => `${(value / 4).toFixed(2)}`),
    fc.constant('ratio'),
  ];
  if (place.depth === 0) return fc.oneof(...leaves);
  const inner = below(place);
  return fc.oneof(
    ...leaves,
    fc
      .constantFrom('+', '-', '*', '/')
      .chain((op) => joined([doubles(inner), doubles(inner)], (left, right) => `(${left} ${op} ${right})`)),
    joined([ints(inner)], (value) => `double(${value})`),
  );
}

function texts(place: Place): Source {
  const leaves: Source[] = [
    fc.constantFrom(...TEXTS),
    fc.constantFrom('word', 'row.repo', 'tags.team', "tags['nobody']", 'words[0]'),
  ];
  if (place.depth === 0) return fc.oneof(...leaves);
  const inner = below(place);
  return fc.oneof(
    ...leaves,
    joined([texts(inner), texts(inner)], (left, right) => `(${left} + ${right})`),
    joined([bools(inner), texts(inner), texts(inner)], (asked, yes, no) => `(${asked} ? ${yes} : ${no})`),
    fc
      .tuple(fc.constantFrom(...ASCII), fc.constantFrom('lowerAscii', 'upperAscii'))
      .map(([text, name]) => `${text}.${name}()`),
    joined([texts(inner)], (text) => `${text}.trim()`),
    fc.constantFrom('slug', 'basename').chain((name) => joined([texts(inner)], (text) => `${name}(${text})`)),
    joined([texts(inner), texts(inner)], (text, by) => `${text}.split(${by}).join('|')`),
    joined([fc.oneof(ints(inner), doubles(inner), bools(inner))], (value) => `string(${value})`),
  );
}

function lists(place: Place): Source {
  const leaf = fc.constantFrom('numbers', '[1]', '[3, 0, 2]');
  if (place.depth === 0) return leaf;
  const inner = below(place);
  const own: Source[] = [
    leaf,
    joined([ints(inner), ints(inner)], (first, second) => `[${first}, ${second}]`),
    joined([lists(inner), lists(inner)], (left, right) => `(${left} + ${right})`),
  ];
  if (place.name !== null) return fc.oneof(...own);
  const named = { depth: inner.depth, name: 'n' };
  return fc.oneof(
    ...own,
    joined([lists(inner), ints(named)], (list, value) => `${list}.map(n, ${value})`),
    joined([lists(inner), bools(named)], (list, asked) => `${list}.filter(n, ${asked})`),
  );
}

function lengths({ depth }: Place): Source {
  const leaf = fc.oneof(
    fc.constant('length'),
    fc.integer({ min: 0, max: 300 }).map((minutes) => `duration('${minutes}m')`),
  );
  if (depth === 0) return leaf;
  const inner = { depth: depth - 1, name: null };
  return fc.oneof(
    leaf,
    fc
      .constantFrom('+', '-')
      .chain((op) => joined([lengths(inner), lengths(inner)], (left, right) => `(${left} ${op} ${right})`)),
  );
}

function bools(place: Place): Source {
  const leaf = fc.constantFrom('true', 'false', 'flag', 'has(tags.team)', 'has(tags.nobody)');
  if (place.depth === 0) return leaf;
  const inner = below(place);
  const compared = (sort: (at: Place) => Source): Source =>
    fc
      .constantFrom('==', '!=', '<', '<=', '>', '>=')
      .chain((op) => joined([sort(inner), sort(inner)], (left, right) => `(${left} ${op} ${right})`));
  const own: Source[] = [
    leaf,
    compared(ints),
    compared(doubles),
    compared(texts),
    compared(lengths),
    fc
      .constantFrom('&&', '||')
      .chain((op) => joined([bools(inner), bools(inner)], (left, right) => `(${left} ${op} ${right})`)),
    joined([bools(inner)], (asked) => `!(${asked})`),
    joined([ints(inner), lists(inner)], (value, list) => `(${value} in ${list})`),
    joined([lists(inner), lists(inner)], (left, right) => `(${left} == ${right})`),
    fc
      .constantFrom('contains', 'startsWith', 'endsWith')
      .chain((name) => joined([texts(inner), texts(inner)], (text, part) => `${text}.${name}(${part})`)),
  ];
  if (place.name !== null) return fc.oneof(...own);
  const named = { depth: inner.depth, name: 'n' };
  return fc.oneof(
    ...own,
    fc
      .constantFrom('all', 'exists', 'exists_one')
      .chain((macro) =>
        joined([lists(inner), bools(named)], (list, asked) => `${list}.${macro}(n, ${asked})`),
      ),
  );
}

const top: Place = { depth: DEPTH_MAX, name: null };

/** Of a type that a text takes, and short enough to be read. */
export const anyExpression: Source = fc
  .oneof(ints(top), doubles(top), texts(top), bools(top))
  .filter((source) => source.length < 600);
