/**
 * Stands in front of the Agent Server of every sandbox in the hostile form of chaos, and does nothing until a file in
 * the workspace names a lie: then this server is the attacker's.
 * Owns the answers that an Agent Server could make up; what the real one would say follows where nothing is named.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request, Server, type IncomingMessage, type ServerResponse } from 'node:http';
import { LIE_FILE, type Attack } from './orders.ts';

const MEBIBYTE = 1024 ** 2;
const PROXY_PORT = 4100;
const CALLBACK_PORT = 4101;
const POLL_MS = 100;
/** Of calls that this server makes itself. */
const AT_ONCE = 40;

const sessionKey = process.env['OH_SESSION_API_KEYS_0'] ?? '';
/** What was learned from requests, as anything in this process could. */
const known = { conversationId: '', modelKey: '' };
const said = { bytes: 0, calls: 0 };

const liesNow = (): Attack | null =>
  existsSync(LIE_FILE) ? (readFileSync(LIE_FILE, 'utf8') as Attack) : null;

const say = (bytes: number): void => {
  // Each lie is counted for itself.
  if (!existsSync(`${LIE_FILE}.said`)) Object.assign(said, { bytes: 0, calls: 0 });
  said.bytes += bytes;
  said.calls += 1;
  writeFileSync(`${LIE_FILE}.said`, `${said.calls} times, ${Math.round(said.bytes / MEBIBYTE)} MiB`);
};

const event = (textBytes: number): object => ({
  id: randomUUID(),
  timestamp: new Date().toISOString().slice(0, -1),
  kind: 'MessageEvent',
  source: 'agent',
  llm_message: { role: 'assistant', content: [{ type: 'text', text: 'x'.repeat(textBytes) }] },
});

/** True: answered. */
function answeredBy(lie: Attack, asked: IncomingMessage, response: ServerResponse): boolean {
  const isEvents = asked.url?.includes('/events/search') === true;
  const json = { 'content-type': 'application/json' };
  if (lie === 'pages without end' && isEvents) {
    // Of a common size, and as large as a page may be.
    const items = Array.from({ length: said.calls % 2 === 0 ? 50 : 195 }, () => event(20_000));
    const text = JSON.stringify({ items, next_page_id: randomUUID() });
    say(text.length);
    response.writeHead(200, json).end(text);
    return true;
  }
  if (lie === 'a huge transcript' && isEvents) {
    const text = JSON.stringify({
      items: Array.from({ length: 55_000 }, () => event(800)),
      next_page_id: null,
    });
    say(text.length);
    response.writeHead(200, json).end(text);
    return true;
  }
  if (lie === 'an answer without end' && asked.method === 'GET') {
    response.writeHead(200, json);
    const chunk = Buffer.alloc(MEBIBYTE, '[');
    const more = (): void => {
      while (response.writable && response.write(chunk)) say(MEBIBYTE);
    };
    response.on('drain', more).on('error', () => undefined);
    more();
    return true;
  }
  return false;
}

const emit = Server.prototype.emit;
Server.prototype.emit = function (this: Server, name: string | symbol, ...given: unknown[]): boolean {
  if (name === 'request') {
    const [asked, response] = given as [IncomingMessage, ServerResponse];
    known.conversationId =
      /conversations\/([0-9a-f-]{32,36})/.exec(asked.url ?? '')?.[1] ?? known.conversationId;
    const push = asked.push.bind(asked);
    asked.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
      known.modelKey = /"api_key":"([^"]+)"/.exec(String(chunk))?.[1] ?? known.modelKey;
      return push(chunk, encoding);
    };
    const lie = liesNow();
    if (lie !== null && answeredBy(lie, asked, response)) return true;
  }
  return Reflect.apply(emit, this, [name, ...given]) as boolean;
} as typeof emit;

/** One call out, with a body of that many bytes of which the last never comes when `isOpen`. */
function call(port: number, path: string, { headers, body, isOpen }: Call): Promise<void> {
  return new Promise((resolve) => {
    const bytes = body.length + (isOpen ? 1 : 0);
    const sent = request({
      port,
      path,
      method: 'POST',
      agent: false,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': bytes },
    });
    sent.on('response', (response) => response.resume().once('close', resolve));
    sent.on('error', () => resolve()).on('close', () => resolve());
    sent.write(body, () => say(body.length));
    if (!isOpen) sent.end();
    setTimeout(() => sent.destroy(), 10_000).unref();
  });
}

interface Call {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly isOpen: boolean;
}

async function speakOut(): Promise<void> {
  const lie = liesNow();
  if (lie === 'events by callback') {
    // Larger than a batch may be, and as large as it may be.
    const [over, full] = [70, 19].map((length) =>
      Buffer.from(JSON.stringify(Array.from({ length }, () => event(100_000)))),
    );
    const headers = { 'x-session-api-key': sessionKey };
    const path = `/api/v1/webhooks/events/${known.conversationId}`;
    await Promise.all(
      [over, full, over, full].map((body = Buffer.alloc(0)) =>
        call(CALLBACK_PORT, path, { headers, body, isOpen: false }),
      ),
    );
  } else if (lie === 'model calls in flight') {
    const body = Buffer.alloc(60 * MEBIBYTE, ' ');
    const headers = { authorization: `Bearer ${known.modelKey}` };
    const one = { headers, body, isOpen: true };
    await Promise.all(Array.from({ length: AT_ONCE }, () => call(PROXY_PORT, '/v1/chat/completions', one)));
  }
  setTimeout(() => void speakOut(), POLL_MS);
}

void speakOut();
