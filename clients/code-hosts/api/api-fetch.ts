/**
 * One request to the interface of a code host over HTTP, with `fetch`.
 * Owns bounds, waiting where the host requires it, and what its refusals mean; must not know what is requested.
 */
import { request } from 'undici';
import { ParleyError } from '../../../core/parley-error.ts';
import { retryAfterMs } from '../../../core/retry-after.ts';
import type { Clock } from '../../../ports/clock.ts';
import {
  ANSWER_BYTES_MAX,
  ANSWER_TIMEOUT_MS,
  LIMIT_WAIT_DEFAULT_MS,
  READ_TRIES,
  REASON_CHARS_MAX,
  REDIRECTS_MAX,
  RETRY_WAIT_MS,
} from './api-limits.ts';
import { plainLine } from './plain-text.ts';

/** As the clients of the hosts call it; bodies are text. */
export type ApiFetch = (address: string, init?: ApiInit) => Promise<Response>;

interface ApiInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface ApiFetchOptions {
  readonly clock: Clock;
  /** What cannot be done when it fails: `read issues of "acme/app" at github`. */
  readonly doing: string;
  /** What to do about a missing or a wrong credential, and about one with too few rights. */
  readonly remedies: { readonly credential: string; readonly rights: string };
  /** For all waits together. */
  readonly waitMsMax: number;
  onWait(words: string): void;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Statuses that say something about what was requested (409, 422 and their like) come back; all others are errors.
 * Only a request that changes nothing is repeated automatically.
 */
export function createApiFetch(options: ApiFetchOptions): ApiFetch {
  let leftMs = options.waitMsMax;
  return async (address, init = {}) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await answered(address, init, options).catch((error: unknown) => {
        if (!mayRepeat(init) || tries >= READ_TRIES) throw error;
        return null;
      });
      const wait =
        answer === null ? passing(tries) : waitFor(answer, { init, tries, now: options.clock.now() });
      if (answer !== null && wait === null) return judged(answer, options);
      const { ms, why } = wait ?? passing(tries);
      if (ms > leftMs)
        throw failed(options, `it limits calls, and the next one is ${Math.ceil(ms / 1_000)} seconds away`);
      leftMs -= ms;
      if (why !== null) {
        const until = new Date(options.clock.now() + ms).toISOString().slice(0, SECONDS_CHARS);
        const seconds = Math.ceil(ms / 1_000);
        options.onWait(`${why}: waiting ${seconds} seconds, until ${until}Z, to ${options.doing}`);
      }
      await sleep(options.clock, ms);
    }
  };
}

/** Of an instant as ISO 8601 writes it, without its fractions. */
const SECONDS_CHARS = 'YYYY-MM-DDTHH:MM:SS'.length;

interface Wait {
  readonly ms: number;
  /** Null: too short to be reported. */
  readonly why: string | null;
}

const passing = (tries: number): Wait => ({ ms: RETRY_WAIT_MS * 3 ** (tries - 1), why: null });

/** Null when the answer is to be taken as it is. */
function waitFor(
  { status, headers }: Answer,
  { init, tries, now }: { readonly init: ApiInit; readonly tries: number; readonly now: number },
): Wait | null {
  if (status >= 500 && mayRepeat(init) && tries < READ_TRIES) return passing(tries);
  const isUsedUp = headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after');
  if (status !== 429 && !(status === 403 && isUsedUp)) return null;
  const asked = retryAfterMs(headers.get('retry-after'), now);
  const reset = Number(headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset') ?? Number.NaN);
  const untilReset = Number.isFinite(reset) ? Math.max(0, reset * 1_000 - now) : LIMIT_WAIT_DEFAULT_MS;
  // Clocks differ by a little, and a call that comes too early counts.
  return { ms: (asked ?? untilReset) + RETRY_WAIT_MS, why: 'the code host limits calls' };
}

function mayRepeat({ method = 'GET' }: ApiInit): boolean {
  return method === 'GET';
}

function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.setTimer(clock.now() + ms, resolve));
}

/** Redirects stay on the host: a credential goes nowhere else. */
async function answered(address: string, init: ApiInit, options: ApiFetchOptions): Promise<Answer> {
  let url = address;
  for (let followed = 0; followed <= REDIRECTS_MAX; followed += 1) {
    const answer = await once(url, init, options);
    const whither = answer.headers.get('location');
    if (answer.status < 300 || answer.status > 399 || whither === null || !mayRepeat(init)) return answer;
    const next = URL.canParse(whither, url) ? new URL(whither, url) : null;
    if (next === null || next.origin !== new URL(url).origin)
      throw refused(options, 'it leads to another host', 'write the address of that host into "code_hosts"');
    url = next.href;
  }
  throw failed(options, 'it leads in a circle');
}

async function once(url: string, init: ApiInit, options: ApiFetchOptions): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = init;
  const given = typeof body === 'string' ? { body } : {};
  const answer = await request(url, {
    method: method as 'GET',
    headers,
    ...given,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  }).catch((error: unknown) => {
    throw failed(options, `the host does not answer (${codeOf(error)})`);
  });
  const named = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  return {
    status: answer.statusCode,
    headers: new Headers(named.filter(([, value]) => /^[\t\x20-\x7E\u0080-\u00FF]*$/.test(value))),
    text: await boundedText(answer.body, options),
  };
}

async function boundedText(body: AsyncIterable<Uint8Array>, options: ApiFetchOptions): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += piece.byteLength;
      if (bytes > ANSWER_BYTES_MAX)
        throw failed(options, `it answers with more than ${ANSWER_BYTES_MAX} bytes`);
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    throw failed(options, `the answer was cut off (${codeOf(error)})`);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown';
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === 'string' ? code : String(name);
}

function judged({ status, headers, text }: Answer, options: ApiFetchOptions): Response {
  const said = reasonIn(text);
  const words = said === '' ? String(status) : `${status}: ${said}`;
  const { credential, rights } = options.remedies;
  if (status === 401)
    throw refused(options, `the credential is missing, wrong or expired (${words})`, credential);
  if (status === 403) throw refused(options, `the credential does not allow it (${words})`, rights);
  if (status === 404)
    throw refused(
      options,
      `there is no such repository, or the credential may not see it (${words})`,
      credential,
    );
  if (status === 410)
    throw refused(options, `the repository has none of it (${words})`, 'switch it on at the host');
  if (status >= 500 || status === 408) throw failed(options, `the host answered ${words}`);
  const isEmpty = status === 204 || status === 205 || status === 304;
  const response = new Response(isEmpty ? null : text, { status, headers });
  return response;
}

/** What the host says, in one line: it is shown, and never parsed. */
export function reasonIn(text: string): string {
  try {
    const { message, error, errors } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const said = message ?? error;
    if (said === undefined || said === null) return '';
    // GitHub says in a list what is wrong with which field.
    const further = Array.isArray(errors) ? (errors as readonly unknown[]) : [];
    const words = [
      said,
      ...further.map((one) => (one as { readonly message?: unknown } | null)?.message ?? one),
    ];
    const texts = words.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    return plainLine(texts.join('; '), REASON_CHARS_MAX);
  } catch {
    return '';
  }
}

export function refused({ doing }: Pick<ApiFetchOptions, 'doing'>, why: string, remedy: string): ParleyError {
  return new ParleyError('code_host_refused', `Cannot ${doing}: ${why}`, { remedy });
}

export function failed({ doing }: Pick<ApiFetchOptions, 'doing'>, why: string): ParleyError {
  return new ParleyError('code_host_failed', `Cannot ${doing}: ${why}`);
}
