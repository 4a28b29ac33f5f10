/**
 * Each border where a sandbox speaks, with inputs that it might make up: nothing throws but a refusal of ours, and what
 * is kept has a bound. `PARLEY_FUZZ=200000 npm test -- test/escape/fuzzed-borders` plays so many.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  eventPageSchema,
  parseAnswer,
  readError,
  readPatchFindings,
  readView,
} from '../../agent-client/wire.ts';
import { jsonOf } from '../../agent-client/call.ts';
import { isActivity } from '../../activities/transcript.ts';
import { checkLog, lastLines } from '../../activities/check-log.ts';
import { shownName } from '../../activities/collect/matches.ts';
import { answerHeaders } from '../../api/relay/relay-headers.ts';
import { startWebhookServer } from '../../api/webhook-server.ts';
import { parseGitRequest, tokenOf } from '../../code-hosts/git-request.ts';
import { isCommitId } from '../../core/commit-id.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { createEgressProxy } from '../../runtimes/egress/egress-proxy.ts';
import { parseHostAndPort, parseHostRule } from '../../runtimes/egress/host-rules.ts';
import { tarMembers } from '../../runtimes/workspace-archive/tar-members.ts';
import type { WalkedEntry } from '../../runtimes/workspace-archive/anchored-walk.ts';
import { activityWorld, CONVERSATION, inSandbox, SANDBOX } from '../activities/activity-world.ts';
import { callSocket } from '../api/socket-call.ts';
import { fuzzRuns } from '../helpers/fuzz-runs.ts';
import { tempDir } from '../helpers/temp-dir.ts';

/** Shapes that real servers send, as seeds: what is made up is put into their fields. */
const CONVERSATION_INFO = {
  id: CONVERSATION,
  execution_status: 'running',
  updated_at: '2026-01-01T00:00:00',
  agent_state: { paused_reason: null, retry_at: null },
  metrics: { model_name: 'm', accumulated_cost: 0.1, accumulated_token_usage: { prompt_tokens: 1 } },
};
const EVENT_PAGE = {
  items: [{ id: 'e1', timestamp: '2026-01-01T00:00:00', kind: 'MessageEvent', source: 'agent' }],
  next_page_id: null,
};

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom('__proto__', 'constructor', NaN, 1e308, -0, 2 ** 60, '9'.repeat(400), '\u0000', '\ud800'),
);

/** A recorded shape in which one field, at whatever depth, is something else or gone. */
function bent(shape: object): fc.Arbitrary<unknown> {
  return fc.tuple(fc.nat(40), fc.option(odd)).map(([at, value]) => {
    const copy = structuredClone(shape) as Record<string, unknown>;
    const places: (readonly [Record<string, unknown>, string])[] = [];
    const find = (one: unknown): void => {
      for (const [name, inner] of Object.entries(Object(one) as object)) {
        places.push([one as Record<string, unknown>, name]);
        if (typeof inner === 'object') find(inner);
      }
    };
    find(copy);
    const [owner, name] = places[at % places.length] ?? [copy, 'id'];
    if (value === null) delete owner[name];
    else owner[name] = value;
    return copy;
  });
}

function refusedAtMost(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    expect(error.message.length).toBeLessThan(5_000);
  }
}

describe('what a sandbox says', () => {
  it('as an answer of its Agent Server, is read or refused', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      bent(CONVERSATION_INFO).map((value) => Buffer.from(JSON.stringify(value))),
    );
    const any = fc.oneof(odd, bent(CONVERSATION_INFO), bent(EVENT_PAGE));
    fc.assert(
      fc.property(any, bytes, fc.string({ unit: 'binary' }), (value, body, header) => {
        refusedAtMost(() => readView(value));
        refusedAtMost(() => readError(value));
        refusedAtMost(() => parseAnswer(eventPageSchema, value).items.map(isActivity));
        refusedAtMost(() => readView(jsonOf({ status: 200, body: Buffer.from(body), header: () => null })));
        expect(readPatchFindings(header).length).toBeLessThanOrEqual(1_000);
        readPatchFindings(Buffer.from(JSON.stringify(value) ?? '').toString('base64url'));
      }),
      fuzzRuns(300),
    );
  });

  it('as text of commands, Git and names, is read or refused, in bounds', () => {
    const text = fc.string({ unit: 'binary', maxLength: 400 });
    fc.assert(
      fc.property(text, text, fc.integer(), (one, other, code) => {
        if (isCommitId(one)) expect(one).toMatch(/^[0-9a-f]{40}([0-9a-f]{24})?$/);
        parseGitRequest(one, other);
        tokenOf(one);
        tokenOf(`Basic ${other}`);
        parseHostAndPort(one);
        parseHostRule(other);
        lastLines(checkLog(code, one));
        expect(shownName(Buffer.from(one)).length).toBeLessThan(2_000);
        for (const value of Object.values(
          answerHeaders({ 'content-type': one, 'content-disposition': other }),
        ))
          expect(String(value)).toMatch(/^[\x20-\x7e]*$/);
      }),
      fuzzRuns(300),
    );
  });

  it('as files of its workspace, is a whole archive', async () => {
    const entry = fc
      .record({ path: fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }), size: fc.nat(2 ** 44) })
      .chain(({ path: name, size }) => {
        const mtime = new Date(0);
        const file = { read: () => Promise.resolve({ bytesRead: 0 }) } as never;
        return fc.constantFrom<WalkedEntry>(
          { kind: 'directory', path: name, mode: 0o777, mtime },
          { kind: 'link', path: name, mtime, target: name },
          { kind: 'unreadable', path: name, reason: name },
          { kind: 'file', path: name, mode: 0, mtime, size: size % 4_096, blocksBytes: 0, file },
          { kind: 'file', path: name, mode: 0, mtime, size, blocksBytes: 0, file },
        );
      });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 6 }), async (entries) => {
        async function* walked(): AsyncGenerator<WalkedEntry> {
          yield* await Promise.resolve(entries);
        }
        let bytes = 0;
        for await (const chunk of tarMembers(walked(), 1_000_000)) bytes += chunk.length;
        expect(bytes % 512).toBe(0);
        expect(bytes).toBeLessThan(2_000_000);
      }),
      fuzzRuns(100),
    );
  });
});

/** Sends the bytes, and waits until the other side has ended or answered. */
async function exchange(to: string, bytes: Uint8Array): Promise<void> {
  const socket = connect(to);
  socket.on('error', () => undefined);
  socket.setTimeout(500, () => socket.destroy());
  socket.on('data', () => socket.end());
  socket.end(bytes);
  if (!socket.closed) await once(socket, 'close');
}

const line = fc.constantFrom(
  'HTTP/1.1 200 OK',
  'HTTP/1.1 042 X',
  'HTTP/1.1 99',
  'HTTP/1.1 999 \u0001',
  'HTTP/9.9 x',
);
const reply = fc
  .tuple(
    fc.oneof(line, fc.string({ unit: 'binary', maxLength: 40 })),
    fc.array(fc.string({ maxLength: 40 }), { maxLength: 4 }),
    fc.uint8Array({ maxLength: 100 }),
  )
  .map(([first, headers, body]) =>
    Buffer.concat([Buffer.from([first, ...headers, '', ''].join('\r\n'), 'latin1'), body]),
  );

describe('what is spoken over sockets', () => {
  it('ends no callback server, which hears the next batch', async () => {
    const around = await activityWorld();
    await inSandbox(around, { sandbox: { generation: 1 } });
    const socketPath = path.join(tempDir(), 'webhook.sock');
    const server = await startWebhookServer(around.world, socketPath, around.store.audit);
    onTestFinished(() => server.close());
    const key = around.world.keys.sessionKey(SANDBOX, 1);
    const call = (route: string, body: unknown) =>
      callSocket({
        socketPath,
        path: `/api/v1/webhooks/${route}`,
        body,
        headers: { 'x-session-api-key': key },
      });
    const body = fc.oneof(odd, bent(EVENT_PAGE.items), bent(CONVERSATION_INFO));
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), reply, body, async (bytes, raw, value) => {
        await exchange(socketPath, bytes);
        await exchange(socketPath, Buffer.concat([Buffer.from('POST /api/v1/webhooks/events/x '), raw]));
        for (const route of [`events/${CONVERSATION}`, 'conversations'])
          expect((await call(route, value)).status).toBeLessThan(600);
      }),
      fuzzRuns(15),
    );
    expect((await call(`events/${CONVERSATION}`, EVENT_PAGE.items)).status).toBe(200);
  });

  it('by a host that may be reached, ends no way out', async () => {
    let answer: Buffer = Buffer.from('');
    const host: Server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(answer));
    });
    host.listen(0, '127.0.0.1');
    await once(host, 'listening');
    const { port } = host.address() as AddressInfo;
    const socketPath = path.join(tempDir(), 'egress.sock');
    const told: string[] = [];
    const egress = createEgressProxy({
      socketPath,
      rules: [{ ...(parseHostRule(`127.0.0.1:${port}`) as object) }] as never,
      resolve: () => Promise.resolve(['127.0.0.1']),
      mayReach: () => true,
      onRefused: (text) => told.push(text),
    });
    await egress.listen();
    onTestFinished(async () => {
      await egress.close();
      host.close();
    });
    const asking = (target: string): Buffer => Buffer.from(`${target} HTTP/1.1\r\nhost: x\r\n\r\n`, 'latin1');
    await fc.assert(
      fc.asyncProperty(reply, fc.string({ unit: 'binary', maxLength: 60 }), async (raw, target) => {
        answer = raw;
        await exchange(socketPath, asking(`GET http://127.0.0.1:${port}/`));
        await exchange(socketPath, asking(`CONNECT 127.0.0.1:${port}`));
        await exchange(socketPath, asking(`CONNECT ${target}`));
        await exchange(socketPath, asking(`GET ${target}`));
      }),
      fuzzRuns(15),
    );
    answer = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi');
    const last = connect(socketPath);
    last.write(asking(`GET http://127.0.0.1:${port}/`));
    const [said] = (await once(last, 'data')) as [Buffer];
    last.destroy();
    expect(said.toString()).toMatch(/^HTTP\/1\.1 200 /);
  });
});
