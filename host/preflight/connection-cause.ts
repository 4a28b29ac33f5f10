/**
 * Why a connection did not come about, in words and with a remedy.
 * Owns the words; must not know who was called.
 */

interface Cause {
  readonly reason: string;
  /** It may still answer: nobody refused. */
  readonly isTooSlow: boolean;
}

const SLOW = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it breaks the connection off',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ENOTFOUND: 'no such host is known',
  EAI_AGAIN: 'no name server tells its address',
  UND_ERR_SOCKET: 'it breaks the connection off',
};

/** Of the error of a call, whose cause has the code of the system. */
export function reasonOfCause(error: unknown): Cause {
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError'))
    return { reason: 'no answer in time', isTooSlow: true };
  const cause = innermost(error);
  const { code = '', message = String(cause) } = cause as {
    readonly code?: string;
    readonly message?: string;
  };
  if (SLOW.has(code)) return { reason: 'no answer in time', isTooSlow: true };
  const known = WORDS[code];
  return { reason: known ?? (code === '' ? message : `${message} (${code})`), isTooSlow: false };
}

function innermost(error: unknown): unknown {
  const { cause, errors } = error as { readonly cause?: unknown; readonly errors?: readonly unknown[] };
  if (errors !== undefined && errors.length > 0) return innermost(errors[0]);
  return cause === undefined || cause === null ? error : innermost(cause);
}

export function remedyOfCause(reason: string): string {
  if (/certificate|CERT|SSL|self.signed|TLS/i.test(reason))
    return 'let NODE_EXTRA_CA_CERTS name the authority of its certificate, or correct the address';
  return 'start it, or correct the address';
}
