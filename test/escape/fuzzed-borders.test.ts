/**
 * Each border where a sandbox speaks, with inputs that it might make up: nothing throws but a refusal of ours, and what
 * is kept has a bound. `npm run fuzz` plays 200,000 of them in all, and a whole run a few of each.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  bashOutputSchema,
  bashPageSchema,
  eventPageSchema,
  gitChangesSchema,
  gitDiffSchema,
  parseAnswer,
  readError,
  readPatchFindings,
  readView,
  serverInfoSchema,
} from '../../clients/agent/wire.ts';
import { jsonOf } from '../../clients/agent/call.ts';
import { isActivity } from '../../core/sandbox/activity.ts';
import { syncTranscript } from '../../activities/transcript.ts';
import { checkLog, lastLines } from '../../activities/check-log.ts';
import { shownName } from '../../activities/collect/matches.ts';
import { answerHeaders } from '../../api/relay/agent-relay.ts';
import { startWebhookServer } from '../../api/webhook-server.ts';
import { parseGitRequest, tokenOf } from '../../clients/code-hosts/git-request.ts';
import { isCommitId } from '../../core/commit-id.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { createEgressProxy } from '../../runtimes/egress/egress-proxy.ts';
import { parseHostAndPort, parseHostRule } from '../../runtimes/egress/host-rules.ts';
import { tarMembers } from '../../runtimes/workspace-archive/tar-members.ts';
import type { WalkedEntry } from '../../runtimes/workspace-archive/anchored-walk.ts';
import { activityWorld, CONVERSATION, inSandbox, SANDBOX } from '../activities/activity-world.ts';
import { callSocket } from '../api/socket-call.ts';
import { fuzzRuns, playBorder } from '../helpers/fuzz-runs.ts';
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
const COMMAND_OUTPUT = { command_id: 'c', order: 0, exit_code: 0, stdout: 'ok', stderr: '' };
const GIT_CHANGES = [{ status: 'UPDATED', path: 'a.txt' }];
const GIT_DIFF = { modified: 'new', original: 'old' };
/** Hours of a large number of inputs, and none of a whole run. */
const TIMEOUT_MS = 4 * 3_600_000;

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
  it('as an answer of its Agent Server, is read or refused', { timeout: TIMEOUT_MS }, async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      bent(CONVERSATION_INFO).map((value) => Buffer.from(JSON.stringify(value))),
    );
    const any = fc.oneof(odd, bent(CONVERSATION_INFO), bent(EVENT_PAGE));
    const play = (played: () => void): void =>
      fc.assert(
        fc.property(any, bytes, fc.string({ unit: 'binary' }), (value, body, header) => {
          played();
          refusedAtMost(() => readView(value));
          refusedAtMost(() => readError(value));
          refusedAtMost(() =>
            parseAnswer(eventPageSchema, value).items.map(({ kind }) =>
              isActivity({ kind: 'event', event: kind }),
            ),
          );
          refusedAtMost(() => readView(jsonOf({ status: 200, body: Buffer.from(body), header: () => null })));
          expect(readPatchFindings(header).length).toBeLessThanOrEqual(1_000);
          readPatchFindings(Buffer.from(JSON.stringify(value) ?? '').toString('base64url'));
        }),
        fuzzRuns(300, 0.3),
      );
    await playBorder('answers', ({ played }) => play(played));
  });

  it('as output of commands and of Git, is read or refused', { timeout: TIMEOUT_MS }, async () => {
    const any = fc.oneof(
      odd,
      ...[COMMAND_OUTPUT, GIT_CHANGES, GIT_DIFF, { items: [COMMAND_OUTPUT] }].map(bent),
    );
    const schemas = [bashOutputSchema, bashPageSchema, gitChangesSchema, gitDiffSchema, serverInfoSchema];
    const play = (played: () => void): void =>
      fc.assert(
        fc.property(any, (value) => {
          played();
          for (const schema of schemas) refusedAtMost(() => parseAnswer<unknown>(schema, value));
        }),
        fuzzRuns(300, 0.2),
      );
    await playBorder('output of commands and Git', ({ played }) => play(played));
  });

  it('as pages of events, is kept or refused', { timeout: TIMEOUT_MS }, async () => {
    const around = await activityWorld();
    await inSandbox(around, { sandbox: { generation: 1 } });
    const page = fc.oneof(bent(EVENT_PAGE), odd);
    let given: unknown = null;
    const agent = {
      ...around.world.agent,
      events: () => {
        const { items, next_page_id: nextPageId = null } = parseAnswer(eventPageSchema, given);
        return Promise.resolve({ items, nextPageId, bytes: 1 });
      },
    };
    const world = { ...around.world, agent };
    const play = (played: () => void): Promise<void> =>
      fc.assert(
        fc.asyncProperty(page, async (value) => {
          played();
          given = value;
          const failed: unknown = await syncTranscript(world, {} as never, CONVERSATION).then(
            () => null,
            (error: unknown) => error,
          );
          refusedAtMost(() => {
            if (failed !== null) throw failed;
          });
        }),
        fuzzRuns(50, 0.05),
      );
    await playBorder('pages of events', ({ played }) => play(played));
  });

  it(
    'as text of commands, Git and names, is read or refused, in bounds',
    { timeout: TIMEOUT_MS },
    async () => {
      const text = fc.string({ unit: 'binary', maxLength: 400 });
      const play = (played: () => void): void =>
        fc.assert(
          fc.property(text, text, fc.integer(), (one, other, code) => {
            played();
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
          fuzzRuns(300, 0.3),
        );
      await playBorder('texts', ({ played }) => play(played));
    },
  );

  it('as files of its workspace, is a whole archive', { timeout: TIMEOUT_MS }, async () => {
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
    const play = (played: () => void): Promise<void> =>
      fc.assert(
        fc.asyncProperty(fc.array(entry, { maxLength: 6 }), async (entries) => {
          played();
          async function* walked(): AsyncGenerator<WalkedEntry> {
            yield* await Promise.resolve(entries);
          }
          let bytes = 0;
          for await (const chunk of tarMembers(walked(), 1_000_000)) bytes += chunk.length;
          expect(bytes % 512).toBe(0);
          expect(bytes).toBeLessThan(2_000_000);
        }),
        fuzzRuns(100, 0.05),
      );
    await playBorder('archive', ({ played }) => play(played));
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
  it('ends no callback server, which hears the next batch', { timeout: TIMEOUT_MS }, async () => {
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
    const play = (played: () => void): Promise<void> =>
      fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), reply, body, async (bytes, raw, value) => {
          for (let input = 0; input < 4; input += 1) played();
          await exchange(socketPath, bytes);
          await exchange(socketPath, Buffer.concat([Buffer.from('POST /api/v1/webhooks/events/x '), raw]));
          for (const route of [`events/${CONVERSATION}`, 'conversations'])
            expect((await call(route, value)).status).toBeLessThan(600);
        }),
        fuzzRuns(15, 0.0125),
      );
    await playBorder('callbacks', ({ played }) => play(played));
    expect((await call(`events/${CONVERSATION}`, EVENT_PAGE.items)).status).toBe(200);
  });

  it('by a host that may be reached, ends no way out', { timeout: TIMEOUT_MS }, async () => {
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
    const play = (played: () => void): Promise<void> =>
      fc.assert(
        fc.asyncProperty(reply, fc.string({ unit: 'binary', maxLength: 60 }), async (raw, target) => {
          for (let input = 0; input < 4; input += 1) played();
          answer = raw;
          await exchange(socketPath, asking(`GET http://127.0.0.1:${port}/`));
          await exchange(socketPath, asking(`CONNECT 127.0.0.1:${port}`));
          await exchange(socketPath, asking(`CONNECT ${target}`));
          await exchange(socketPath, asking(`GET ${target}`));
        }),
        fuzzRuns(15, 0.0125),
      );
    await playBorder('egress', ({ played }) => play(played));
    answer = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi');
    const last = connect(socketPath);
    last.write(asking(`GET http://127.0.0.1:${port}/`));
    const [said] = (await once(last, 'data')) as [Buffer];
    last.destroy();
    expect(said.toString()).toMatch(/^HTTP\/1\.1 200 /);
  });
});
