/**
 * Pieces of the wire that many shapes share: ids, instants, lists in a query, pages.
 * Owns their forms and bounds; must not know a resource.
 */
import { z } from 'zod';
import { normalUuid } from '../../core/ids.ts';
import { instantFromText } from '../../core/text/instant-text.ts';

/** Rows of one page at most. */
export const PAGE_LIMIT_MAX = 100;

/** Both UUID forms come in; one comes out of here: 32 lower-case hex digits (D3). */
export const uuidIn = z
  .string()
  .regex(/^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/, 'Input should be a valid UUID')
  .meta({ description: 'A UUID, with hyphens or without.' });

export const hexId = z.string().meta({ description: '32 lower-case hex digits.' });

/** Only days that exist: the pattern in the document must accept what the parser accepts. */
const LEAP_YEAR = String.raw`(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)`;
const LONG_MONTH = String.raw`(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])`;
const SHORT_MONTH = String.raw`(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8])`;
/** Date, time and zone of an instant; the plus sign of a zone may have come as a space. */
const DATE = String.raw`(?:\d{4}-(?:${LONG_MONTH}|${SHORT_MONTH})|${LEAP_YEAR}-02-29)`;
const TIME = String.raw`(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?`;
const ZONE = String.raw`[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d| (?:[01]\d|2[0-3]):[0-5]\d`;

/** An instant in ISO 8601; without a zone it is UTC. More than `format: date-time`, so the document has the pattern. */
export const instantIn = z
  .string()
  .regex(new RegExp(`^${DATE}(?:[T ]${TIME}(?:${ZONE})?)?$`), 'Input should be a valid datetime')
  .meta({ description: 'An instant in ISO 8601; without a zone it is UTC.' });

export const instantOut = z.string().meta({ format: 'date-time' });

/** Epoch milliseconds; NaN when it is none. A zone's plus sign may have come as a space. */
export function parseInstant(text: string): number {
  return instantFromText(text.replace(/(?<=:.*) (\d\d:\d\d)$/, '+$1')) ?? NaN;
}

/** Answers are full of instants, most of them of a few days: a day is written once, and its time in digits. */
export function isoInstant(instant: number): string {
  const at = Math.trunc(instant);
  const day = Math.floor(at / DAY_MS);
  if (day !== lastDay.day) lastDay = { day, text: new Date(at).toISOString().slice(0, -TIME_LENGTH) };
  const ms = at - day * DAY_MS;
  const second = Math.floor(ms / 1_000);
  const minute = Math.floor(second / 60);
  const time = `${TWO[Math.floor(minute / 60)]}:${TWO[minute % 60]}:${TWO[second % 60]}`;
  return `${lastDay.text}${time}.${String(ms % 1_000).padStart(3, '0')}Z`;
}

const DAY_MS = 86_400_000;
const TIME_LENGTH = '00:00:00.000Z'.length;
const TWO = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'));
let lastDay = { day: Number.NaN, text: '' };

/** One of the words, in upper or lower case (D2); a pattern, because a list of words would leave one case out. */
export function wordIn<const Word extends string>(words: readonly Word[]) {
  const anyCase = words.map((word) => word.replaceAll(/[A-Z]/g, (one) => `[${one}${one.toLowerCase()}]`));
  return z
    .string()
    .regex(new RegExp(`^(?:${anyCase.join('|')})$`), `Input should be one of ${words.join(', ')}`)
    .transform((text) => text.toUpperCase() as Word)
    .meta({ description: `One of ${words.join(', ')}, in upper or lower case.`, enum: [...words] });
}

/** A parameter that may be repeated. */
export function repeated<Item extends z.ZodType>(item: Item, max: number) {
  const list = z.preprocess(
    (value) => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(item).min(1).max(max),
  );
  return list as unknown as z.ZodType<z.output<Item>[], z.input<Item> | readonly z.input<Item>[]>;
}

export const limitIn = z.coerce
  .number<number | string | undefined>()
  .int()
  .min(1)
  .max(PAGE_LIMIT_MAX)
  .default(PAGE_LIMIT_MAX);
export const pageIdIn = z.string().max(2_048).optional().meta({ description: 'From `next_page_id`.' });

export function pageOf<Item extends z.ZodType>(item: Item) {
  const page = z.object({ items: z.array(item), next_page_id: z.string().nullable() });
  const { id } = z.globalRegistry.get(item) ?? {};
  return id === undefined ? page : page.meta({ id: `${id}Page` });
}

export const successSchema = z.object({ success: z.literal(true) }).meta({ id: 'Success' });
export const SUCCESS = { success: true } as const;

export const conversationParams = z.object({ conversation_id: uuidIn });
export const sandboxParams = z.object({ sandbox_id: uuidIn });

export const hexOf = normalUuid;

/**
 * An answer that is JSON already: rows that are stored as text go out as they are.
 * Owns the wrapper that says so; the code that makes one vouches that the text has the shape of the answer.
 */
class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** `text` in the place of a value of that type: only the server that sends it reads the text. */
export function jsonText<Value>(text: string): Value {
  return new JsonText(text) as Value;
}

export function textOf(answer: unknown): string {
  return answer instanceof JsonText ? answer.text : JSON.stringify(answer);
}
