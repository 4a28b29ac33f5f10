/**
 * The two spellings of the application API (D2): the specification's, and that of clients of the reference product.
 * Owns every difference between them; must not decide anything about lives.
 */
import type { ParleyError } from '../../core/parley-error.ts';
import { EXECUTION_STATUSES, type ExecutionStatus, type SandboxStatus } from '../../core/status.ts';

export const DIALECT_NAMES = ['spec', 'openhands'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

export interface Dialect {
  readonly name: DialectName;
  executionStatus(
    status: ExecutionStatus | null,
    sandbox: { readonly status: SandboxStatus; readonly isUp: boolean },
  ): string | null;
  /** Every status of an agent, as this dialect spells it. */
  readonly executionStatuses: readonly string[];
  /** Whether a message to a released sandbox is queued and resumes it (D7), or refused with 409. */
  readonly resumesOnMessage: boolean;
  /** Whether reading the workspace of a released sandbox resumes it (D7). */
  readonly resumesOnRead: boolean;
  /** Whether a file that cannot be read is an empty text instead of an error. */
  readonly hidesFileErrors: boolean;
  errorStatus(error: ParleyError): number;
  errorBody(error: ParleyError): Readonly<Record<string, unknown>>;
}

/** In `spec` the last known value stays, with the instant it was heard at (D2). */
const SPEC: Dialect = {
  name: 'spec',
  executionStatus: (status) => status,
  executionStatuses: EXECUTION_STATUSES,
  resumesOnMessage: true,
  resumesOnRead: true,
  hidesFileErrors: false,
  errorStatus: (error) => error.status,
  errorBody: (error) => ({ detail: error.message, code: error.code, ...error.details }),
};

const OPENHANDS: Dialect = {
  name: 'openhands',
  executionStatus: (status, { isUp }) => (isUp && status !== null ? status.toLowerCase() : null),
  executionStatuses: EXECUTION_STATUSES.map((status) => status.toLowerCase()),
  resumesOnMessage: false,
  resumesOnRead: false,
  hidesFileErrors: true,
  errorStatus: (error) => (error.code === 'sandbox_error' ? 503 : error.status),
  errorBody(error) {
    if (error.code === 'rate_limited') return { message: 'Too many requests' };
    if (error.code !== 'concurrency_limit_reached') return { detail: error.message, code: error.code };
    const message = error.message;
    return { detail: { error: 'CONCURRENCY_LIMIT_REACHED', message, ...error.details } };
  },
};

/** The forms in which a server speaks. */
export function dialectOf(name: DialectName): Dialect {
  switch (name) {
    case 'spec':
      return SPEC;
    case 'openhands':
      return OPENHANDS;
  }
}
