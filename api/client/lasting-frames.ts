/**
 * Frames of a stream over as many connections as it takes: a server that is away comes back.
 * Owns when it is tried again and when a connection counts as broken; what goes on behind which frame is the caller's.
 */
import { ClientError } from './client-error.ts';
import { sendCall, wait, type TransportOptions } from './transport.ts';

/** Between two connections; doubled while they bring nothing, so that many clients do not keep a server down. */
const AGAIN_MS = 500;
const AGAIN_MS_MAX = 5_000;
/** The server says something every 15 s: a connection that is silent for longer leads nowhere any more. */
const SILENCE_MS_MAX = 45_000;

/** How long a silence lasts before a connection counts as broken, and what is called then. */
export interface LastingOptions {
  readonly signal: AbortSignal | undefined;
  /** A connection that has said nothing for so long is broken; 45 s by default. */
  readonly silenceMs?: number | undefined;
  onConnected?(): void;
  /** Called for each connection that broke or could not be made. */
  onBroken?(error: unknown): void;
}

/** Never ends by itself; calls `path` per connection. @throws ClientError what will not change; the signal's reason */
export async function* lastingFrames(
  transport: TransportOptions,
  path: () => string,
  { signal, silenceMs = SILENCE_MS_MAX, onConnected, onBroken }: LastingOptions,
): AsyncGenerator<Frame, never, undefined> {
  for (let empty = 0; ; empty += 1) {
    let problem: unknown = null;
    try {
      const { body } = await connected(transport, path(), { signal, silenceMs });
      onConnected?.();
      for await (const frame of framesOf(body, silenceMs)) {
        empty = -1;
        yield frame;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ClientError && !isPassing(error)) throw error;
      problem = error;
    }
    onBroken?.(problem);
    await wait(pauseMs(empty, problem), signal);
  }
}

/** One that takes the connection and never begins to answer is as silent as one that has stopped. */
async function connected(
  transport: TransportOptions,
  path: string,
  { signal, silenceMs }: { readonly signal: AbortSignal | undefined; readonly silenceMs: number },
): Promise<Response> {
  const silence = new AbortController();
  const timer = setTimeout(
    () => silence.abort(new TypeError('network: the service takes connections and does not answer')),
    silenceMs,
  );
  const ends = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]);
  try {
    // It is tried again by the caller, for as long as it takes.
    return await sendCall({ ...transport, triesMax: 1 }, { method: 'GET', path, signal: ends });
  } finally {
    clearTimeout(timer);
  }
}

/** What a server refuses does not change; too much at once, and whatever a server or what is before it fails at, does. */
function isPassing({ status }: ClientError): boolean {
  return status >= 500 || status === 408 || status === 429;
}

function pauseMs(empty: number, problem: unknown): number {
  const asked = problem instanceof ClientError ? problem.retryAfterMs : null;
  return Math.min(asked ?? AGAIN_MS * 2 ** Math.max(0, Math.min(empty, 10)), AGAIN_MS_MAX);
}

/**
 * Server-sent events of one connection.
 * Owns reading them; must not know what they mean.
 */
interface Frame {
  readonly id: number;
  readonly name: string;
  readonly data: string;
}

/** A connection that breaks, or says nothing for so long, ends them. */
async function* framesOf(body: Response['body'], silenceMs: number): AsyncGenerator<Frame, void, undefined> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await within(silenceMs, reader.read().catch(broken));
      if (done) return;
      const parts = `${text}${value}`.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const frame = frameOf(part);
        if (frame !== null) yield frame;
      }
    }
  } finally {
    // A caller that stops early ends the connection to the server.
    await reader.cancel().catch(() => undefined);
  }
}

type Read = Awaited<ReturnType<ReadableStreamDefaultReader<string>['read']>>;

async function within(ms: number, read: Promise<Read>): Promise<Read> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<Read>((resolve) => {
    timer = setTimeout(() => resolve({ done: true, value: undefined }), ms);
  });
  try {
    return await Promise.race([read, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** An end by the caller's signal is thrown; any other error is an end of the connection. */
function broken(error: unknown): { readonly done: true; readonly value: undefined } {
  if (error instanceof Error && error.name === 'AbortError') throw error;
  return { done: true, value: undefined };
}

/** Null for a comment, which only keeps the connection open. */
function frameOf(part: string): Frame | null {
  const fields = new Map(
    part.split('\n').map((line) => {
      const at = line.indexOf(': ');
      return at <= 0 ? ['', ''] : [line.slice(0, at), line.slice(at + 2)];
    }),
  );
  const [name, data] = [fields.get('event'), fields.get('data')];
  return name === undefined || data === undefined ? null : { id: Number(fields.get('id') ?? 0), name, data };
}
