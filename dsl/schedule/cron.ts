/**
 * Cron expressions of five fields, or one of the words for common ones.
 * Owns their syntax and what is refused; when one fires is up to the code that keeps the schedule.
 */

/** Where in the text it is wrong, and what to write. */
interface CronProblem {
  /** UTF-16 offsets in the expression. */
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly remedy: string;
}

export type Cron =
  | { readonly kind: 'cron'; readonly canFire: boolean }
  | { readonly kind: 'problem'; readonly problem: CronProblem };

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Words for numbers from `min` on. */
  readonly words: readonly string[];
}

const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59, words: [] },
  { name: 'hour', min: 0, max: 23, words: [] },
  { name: 'day of the month', min: 1, max: 31, words: [] },
  { name: 'month', min: 1, max: 12, words: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ') },
  // Both 0 and 7 are Sunday.
  { name: 'weekday', min: 0, max: 7, words: 'sun mon tue wed thu fri sat'.split(' ') },
];
const WORDS: ReadonlySet<string> = new Set([
  '@hourly',
  '@daily',
  '@midnight',
  '@weekly',
  '@monthly',
  '@yearly',
  '@annually',
]);
const FORM = 'write "minute hour day month weekday", as in "30 2 * * mon-fri", or @daily';
/** February has its 29th every few years: what fires then, fires. */
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

interface Part {
  readonly text: string;
  readonly start: number;
}

export function parseCron(text: string): Cron {
  const parts: Part[] = [...text.matchAll(/\S+/g)].map((match) => ({ text: match[0], start: match.index }));
  const [first] = parts;
  if (first?.text.startsWith('@') === true) return parseWord(parts, first);
  if (parts.length !== FIELDS.length) {
    const message = `a cron expression has five fields, and this has ${parts.length}`;
    return problem({ text, start: 0 }, message, FORM);
  }
  const values: (readonly number[])[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const read = readField(parts[index] ?? { text: '', start: 0 }, field);
    if ('message' in read) return { kind: 'problem', problem: read };
    values.push(read);
  }
  const [, , day, , weekday] = parts;
  if (day !== undefined && weekday !== undefined && day.text !== '*' && weekday.text !== '*') {
    const remedy = 'write two expressions, one for each, or "*" for one of them';
    return problem(
      weekday,
      'both a day of the month and a weekday are named, which servers read differently',
      remedy,
    );
  }
  return { kind: 'cron', canFire: existsDay(values[2] ?? [], values[3] ?? []) };
}

function parseWord(parts: readonly Part[], first: Part): Cron {
  const [, second] = parts;
  if (second !== undefined) return problem(second, `nothing follows ${first.text}`, FORM);
  if (WORDS.has(first.text)) return { kind: 'cron', canFire: true };
  return problem(first, `"${first.text}" is no word for a schedule`, `write one of ${[...WORDS].join(', ')}`);
}

function existsDay(days: readonly number[], months: readonly number[]): boolean {
  const earliest = Math.min(...days);
  return months.some((month) => earliest <= (DAYS[month - 1] ?? 0));
}

/** A list of values, ranges and steps. */
function readField({ text, start }: Part, field: Field): readonly number[] | CronProblem {
  const values: number[] = [];
  let at = start;
  for (const piece of text.split(',')) {
    const read = readPiece({ text: piece, start: at }, field);
    if ('message' in read) return read;
    values.push(...read);
    at += piece.length + 1;
  }
  return values;
}

function readPiece(piece: Part, field: Field): readonly number[] | CronProblem {
  const { min, max, name } = field;
  const match = /^(?:(\*)|([a-z0-9]+)(?:-([a-z0-9]+))?)(?:\/(\d{1,2}))?$/i.exec(piece.text);
  if (match === null) {
    const what = piece.text === '' ? 'a value is missing' : `"${piece.text}" is no value of the ${name}`;
    return wrong(
      piece,
      what,
      `write *, a number from ${min} to ${max}, a range such as ${min}-${max}, or a step such as */2`,
    );
  }
  const [, star, first = '', last, step] = match;
  const from = star === undefined ? numberOf(first, field) : min;
  const to = star === undefined ? (last === undefined ? from : numberOf(last, field)) : max;
  if (from === null || to === null) return wrong(piece, `"${piece.text}" is no ${name}`, rangeOf(field));
  if (to < from)
    return wrong(piece, `the range "${piece.text}" runs backwards`, 'write the smaller value first');
  const every = step === undefined ? 1 : Number(step);
  if (every === 0) return wrong(piece, 'a step of 0 never moves', 'write a step of 1 or more');
  const end = step !== undefined && star === undefined && last === undefined ? max : to;
  return Array.from({ length: Math.floor((end - from) / every) + 1 }, (_, index) => from + index * every);
}

function numberOf(text: string, { min, max, words }: Field): number | null {
  const word = words.indexOf(text.toLowerCase());
  if (word >= 0) return min + word;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : -1;
  return value >= min && value <= max ? value : null;
}

function rangeOf({ min, max, words }: Field): string {
  const named = words.length === 0 ? '' : `, or ${words[0] ?? ''} to ${words.at(-1) ?? ''}`;
  return `write a number from ${min} to ${max}${named}`;
}

function wrong({ text, start }: Part, message: string, remedy: string): CronProblem {
  return { start, end: start + text.length, message, remedy };
}

function problem(part: Part, message: string, remedy: string): Cron {
  return { kind: 'problem', problem: wrong(part, message, remedy) };
}
