/**
 * Server-sent events of one connection.
 * Owns reading them; must not know what they tell.
 */
export interface Frame {
  readonly id: number;
  readonly name: string;
  readonly data: string;
}

/** A connection that breaks, or says nothing for so long, ends them. */
export async function* framesOf(
  body: Response['body'],
  silenceMs: number,
): AsyncGenerator<Frame, void, undefined> {
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
    // Whoever stops early lets the server know.
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

/** An end that somebody wanted is told; any other one is an end of the connection. */
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
