/**
 * The one error that crosses folder borders.
 * Owns the carrier of a catalogue code; must not decide what a caller does about it.
 */
import { ERROR_CATALOGUE, type ErrorCode } from './error-catalogue.ts';
import { worldErrorOf } from './world-error.ts';

/** Match by `code`, never by class. `message` follows "Cannot VERB thing: state"; `cause` is kept. */
export class ParleyError extends Error {
  readonly code: ErrorCode;
  /** Facts for the reader (ids, limits, counts): never a secret. */
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
  /** What to do about this one; null when the code's own remedy says it. */
  readonly remedy: string | null;

  constructor(code: ErrorCode, message: string, options: ParleyErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ParleyError';
    this.code = code;
    this.details = options.details ?? {};
    this.remedy = options.remedy ?? null;
  }

  get retry(): boolean {
    return ERROR_CATALOGUE[this.code].retry;
  }

  get status(): number {
    return ERROR_CATALOGUE[this.code].status;
  }
}

/** What an error says beside its code and message. */
export interface ParleyErrorOptions {
  readonly cause?: unknown;
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
  readonly remedy?: string;
}

/** The refusal to load a package that is not installed, whatever it was to be used for; null for any other error. */
export function missingPartOf(error: unknown): ParleyError | null {
  const world = worldErrorOf(error);
  return world?.code === 'part_missing'
    ? new ParleyError(world.code, world.message, { cause: error, ...world })
    : null;
}

/**
 * The error as one of ours, its cause kept: a full disk, a path that cannot be used and their like have codes, and any
 * other foreign error becomes `internal`, a bug.
 */
export function asParleyError(error: unknown): ParleyError {
  if (error instanceof ParleyError && error.code !== 'internal') return error;
  const world = worldErrorOf(error);
  if (world !== null) return new ParleyError(world.code, world.message, { cause: error, ...world });
  if (error instanceof ParleyError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ParleyError('internal', message, { cause: error });
}
