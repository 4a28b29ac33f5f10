/**
 * What came in against the shape of its route.
 * Owns the answer to a mistake: 422 with every finding as `{loc, msg, type}` (D4).
 */
import type { z } from 'zod';
import type { FastifyRequest } from 'fastify';
import { ParleyError } from '../../core/parley-error.ts';
import type { Route } from './route.ts';

export interface Finding {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** Carries the findings to the answer; a value that was sent is in none of them (D20). */
export class InvalidRequest extends ParleyError {
  readonly findings: readonly Finding[];

  constructor(findings: readonly Finding[]) {
    const [first] = findings;
    super('invalid_request', `Cannot take the request: ${first?.loc.join('.')}: ${first?.msg}`);
    this.findings = findings;
  }
}

/** @throws InvalidRequest */
export function validated(
  route: Pick<Route, 'params' | 'query' | 'body'>,
  request: FastifyRequest,
): { readonly params: unknown; readonly query: unknown; readonly body: unknown } {
  const findings: Finding[] = [];
  const read = (schema: z.ZodType | undefined, value: unknown, place: string): unknown => {
    if (schema === undefined) return undefined;
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    findings.push(...parsed.error.issues.map((issue) => findingOf(issue, place)));
    return undefined;
  };
  const params = read(route.params, request.params, 'path');
  const query = read(route.query, request.query, 'query');
  const body = read(route.body, request.body ?? undefined, 'body');
  if (findings.length > 0) throw new InvalidRequest(findings);
  return { params, query, body };
}

/** A mistake that only a handler can see. */
export function invalid(
  loc: readonly (string | number)[],
  msg: string,
  type = 'value_error',
): InvalidRequest {
  return new InvalidRequest([{ loc, msg, type }]);
}

function findingOf(issue: z.core.$ZodIssue, place: string): Finding {
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined;
  const loc = [place, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))];
  return { loc, msg: issue.message, type: isMissing ? 'missing' : issue.code };
}
