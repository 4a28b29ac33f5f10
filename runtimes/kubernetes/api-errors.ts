/**
 * What each refusal of the API server means: nothing known, definite, or no such thing.
 * Owns the table from status and reason to an error with a remedy; must not call anything.
 */
import { missingPartOf, ParleyError } from '../../core/parley-error.ts';

/** Why a call was refused, in `details.refusal` of the error. */
export type Refusal =
  | 'quota_exceeded'
  | 'forbidden'
  | 'unauthorized'
  | 'not_found'
  | 'conflict'
  | 'exists'
  | 'expired'
  | 'invalid'
  | 'throttled'
  | 'server_error'
  | 'away';

interface ApiAnswer {
  /** HTTP status; null when no answer came. */
  readonly status: number | null;
  /** The server's own word, as `AlreadyExists`. */
  readonly reason: string;
  readonly message: string;
}

const REMEDIES: Partial<Readonly<Record<Refusal, string>>> = {
  quota_exceeded: 'raise the quota of the namespace, or lower runtime.limits or capacity.sandboxes',
  forbidden: "give Parley's account the role of the chart: parley doctor names the rights it misses",
  unauthorized: 'renew the credentials of runtime.kubernetes.kubeconfig',
  not_found: 'make the namespace of runtime.kubernetes.namespace, as the chart does',
  throttled: 'the API server asks for patience: lower engine.slots.sandbox if it goes on',
  away: 'look whether the API server answers, and at runtime.kubernetes.kubeconfig',
};
const QUOTA = /exceeded quota/;

/** What `error` says, whichever layer threw it; the client throws its own class, Node.js its codes. */
export function answerOf(error: unknown): ApiAnswer {
  const from = error instanceof ParleyError && error.cause !== undefined ? error.cause : error;
  const code = from instanceof Error && 'code' in from ? from.code : null;
  if (from instanceof Error && typeof code === 'number') {
    const body = parsed('body' in from ? from.body : null);
    const message = textOf(body['message']) ?? firstLine(from.message);
    return { status: code, reason: textOf(body['reason']) ?? '', message };
  }
  return {
    status: null,
    reason: '',
    message: from instanceof Error ? firstLine(from.message) : String(from),
  };
}

export function refusalOf({ status, reason, message }: ApiAnswer): Refusal {
  if (status === null) return 'away';
  if (status === 403) return QUOTA.test(message) ? 'quota_exceeded' : 'forbidden';
  if (status === 409) return reason === 'AlreadyExists' ? 'exists' : 'conflict';
  if (status === 429) return 'throttled';
  if (status === 401) return 'unauthorized';
  if (status === 404) return 'not_found';
  if (status === 410) return 'expired';
  return status >= 500 ? 'server_error' : 'invalid';
}

/** `what` completes "Cannot ...". */
export function asRuntimeError(error: unknown, what: string): ParleyError {
  if (error instanceof ParleyError) return error;
  const missing = missingPartOf(error);
  if (missing !== null) return missing;
  const answer = answerOf(error);
  const refusal = refusalOf(answer);
  const remedy = REMEDIES[refusal];
  const options = { cause: error, details: { refusal }, ...(remedy === undefined ? {} : { remedy }) };
  const said = answer.status === null ? answer.message : `Kubernetes says "${answer.message}"`;
  return new ParleyError(codeOf(refusal), `Cannot ${what}: ${said}`, options);
}

/** A refusal of credentials says nothing about a sandbox; one of rights or quota stands until the operator acts. */
function codeOf(refusal: Refusal): 'runtime_failed' | 'runtime_unreachable' {
  switch (refusal) {
    case 'quota_exceeded':
    case 'forbidden':
    case 'not_found':
    case 'invalid':
    case 'exists':
      return 'runtime_failed';
    case 'unauthorized':
    case 'conflict':
    case 'expired':
    case 'throttled':
    case 'server_error':
    case 'away':
      return 'runtime_unreachable';
  }
}

/** The value, or null when the call was refused in one of these ways. */
export async function unless<T>(refusals: readonly Refusal[], work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (refusals.includes(refusalOf(answerOf(error)))) return null;
    throw error;
  }
}

function parsed(body: unknown): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = typeof body === 'string' ? JSON.parse(body) : body;
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
