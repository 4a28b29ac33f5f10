/**
 * Pieces of the wire that many shapes share: ids, instants, lists in a query, pages.
 * Owns their forms and bounds; must not know a resource.
 */
import { z } from 'zod';
import { normalUuid } from '../../core/ids.ts';

/** Rows of one page at most. */
export const PAGE_LIMIT_MAX = 100;

/** Both UUID forms come in; one comes out of here: 32 lower-case hex digits (D3). */
export const uuidIn = z
  .string()
  .regex(/^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/, 'Input should be a valid UUID')
  .meta({ format: 'uuid', description: 'A UUID, with hyphens or without.' });

export const hexId = z.string().meta({ description: '32 lower-case hex digits.' });

/** An instant in ISO 8601; without a zone it is UTC. */
export const instantIn = z
  .string()
  .refine((text) => Number.isFinite(parseInstant(text)), 'Input should be a valid datetime')
  .meta({ format: 'date-time', description: 'An instant in ISO 8601; without a zone it is UTC.' });

export const instantOut = z.string().meta({ format: 'date-time' });

/** Epoch milliseconds; NaN when it is none. A zone's plus sign may have come as a space. */
export function parseInstant(text: string): number {
  const spelled = text.replace(/ (\d\d:\d\d)$/, '+$1').replace(' ', 'T');
  if (!/^\d{4}-\d\d-\d\d/.test(spelled)) return NaN;
  const isZoned = /(Z|[+-]\d\d:?\d\d)$/i.test(spelled) || !spelled.includes('T');
  return Date.parse(isZoned ? spelled : `${spelled}Z`);
}

export function isoInstant(at: number): string {
  return new Date(at).toISOString();
}

/** A parameter that may be repeated. */
export function repeated<Item extends z.ZodType>(item: Item, max: number) {
  return z.preprocess(
    (value) => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(item).min(1).max(max),
  );
}

export const limitIn = z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_MAX);
export const pageIdIn = z.string().max(2_048).optional().meta({ description: 'From `next_page_id`.' });

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), next_page_id: z.string().nullable() });
}

export const successSchema = z.object({ success: z.literal(true) });
export const SUCCESS = { success: true } as const;

export const conversationParams = z.object({ conversation_id: uuidIn });
export const sandboxParams = z.object({ sandbox_id: uuidIn });

export const hexOf = normalUuid;
