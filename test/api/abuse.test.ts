/** What is refused, that an administrator sees it, and that other users are not affected. */
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fromBuffer, type Entry } from 'yauzl';
import { startWebhookServer } from '../../api/webhook-server.ts';
import { conversationId } from '../../core/ids.ts';
import { agentEvent } from '../activities/fake-agent.ts';
import { eventually, openService, startReady, type Service, type ServiceCall } from './service.ts';
import { callSocket } from './socket-call.ts';

const APP = '/api/v1/app-conversations';
const SANDBOXES = '/api/v1/sandboxes';
const OUTSIDE = 'not for agents';

interface Scene {
  readonly service: Service;
  readonly id: string;
  readonly sandboxId: string;
  /** Of the sandbox before it was paused. */
  readonly oldSessionKey: string;
  readonly expired: string;
}

async function scene(): Promise<Scene> {
  const service = await openService();
  const { id, sandboxId } = await startReady(service);
  const [row] = (await service.call({ path: `${SANDBOXES}?id=${sandboxId}` })).body;
  const expired = await service.issue('ada', { expiresAt: Date.now() + 1 });
  const dir = path.join(service.workspaceDir, id);
  mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(service.folder, 'outside.txt'), OUTSIDE);
  symlinkSync(path.join(service.folder, 'outside.txt'), path.join(dir, 'link.txt'));
  symlinkSync(service.folder, path.join(dir, 'folder'));
  writeFileSync(path.join(dir, 'huge.txt'), '');
  truncateSync(path.join(dir, 'huge.txt'), 64 * 1024 ** 2);
  return { service, id, sandboxId, oldSessionKey: row.session_api_key, expired };
}

async function paused({ service, sandboxId }: Scene): Promise<void> {
  await service.call({ method: 'POST', path: `${SANDBOXES}/${sandboxId}/pause` });
  await eventually(
    async () => (await service.call({ path: `${SANDBOXES}?id=${sandboxId}` })).body[0],
    (one) => one.status === 'PAUSED' && one.transition === null,
  );
}

const session = (key: string): Partial<ServiceCall> => ({ key: null, headers: { 'x-session-api-key': key } });

interface Abuse {
  readonly what: string;
  readonly pauses?: true;
  call(scene: Scene): ServiceCall;
  readonly answer: readonly [status: number, code: string];
}

const secretsOf = ({ sandboxId }: Scene): string => `${SANDBOXES}/${sandboxId}/settings/secrets`;
const fileOf = (name: string) => ({
  call: ({ id }: Scene): ServiceCall => ({
    path: `${APP}/${id}/file?file_path=${encodeURIComponent(name)}`,
  }),
  answer: [422, 'invalid_request'] as const,
});

const ABUSES: readonly Abuse[] = [
  {
    what: "a message to somebody else's conversation",
    call: ({ service, id }) => ({
      method: 'POST',
      path: `${APP}/${id}/send-message`,
      key: service.ben,
      body: { content: [{ type: 'text', text: 'hello' }] },
    }),
    answer: [404, 'not_found'],
  },
  {
    what: "a deletion of somebody else's conversation",
    call: ({ service, id }) => ({ method: 'DELETE', path: `${APP}/${id}`, key: service.ben }),
    answer: [404, 'not_found'],
  },
  {
    what: "a download of somebody else's trajectory",
    call: ({ service, id }) => ({ path: `${APP}/${id}/download`, key: service.ben }),
    answer: [404, 'not_found'],
  },
  {
    what: "a pause of somebody else's sandbox",
    call: ({ service, sandboxId }) => ({
      method: 'POST',
      path: `${SANDBOXES}/${sandboxId}/pause`,
      key: service.ben,
    }),
    answer: [404, 'not_found'],
  },
  {
    what: 'an expired key',
    call: ({ expired }) => ({ path: `${APP}/search`, key: expired }),
    answer: [401, 'unauthorized'],
  },
  {
    what: 'a key in the query string',
    call: ({ service }) => ({ path: `${APP}/search?api_key=${service.ada}`, key: null }),
    answer: [401, 'unauthorized'],
  },
  {
    what: 'a key in the query string beside a valid one',
    call: ({ service }) => ({ path: `${APP}/search?token=${service.ada}` }),
    answer: [401, 'unauthorized'],
  },
  {
    what: "a user's key where the session key of a sandbox belongs",
    call: (at) => ({ path: secretsOf(at), ...session(at.service.ada) }),
    answer: [401, 'unauthorized'],
  },
  {
    what: 'the session key of a sandbox that was paused since',
    pauses: true,
    call: (at) => ({ path: secretsOf(at), ...session(at.oldSessionKey) }),
    answer: [401, 'unauthorized'],
  },
  {
    what: 'the log of changes for one who is no administrator',
    call: ({ service }) => ({ path: '/api/v1/audit/search', key: service.ben }),
    answer: [403, 'forbidden'],
  },
  { what: 'a path that climbs out', ...fileOf('../outside.txt') },
  { what: 'an absolute path outside', ...fileOf('/etc/passwd') },
  {
    what: "a path that climbs out of the project's spelling",
    ...fileOf('/workspace/project/../../etc/passwd'),
  },
  { what: 'a link that leads out', ...fileOf('link.txt') },
  { what: 'a file that is larger than what anybody reads', ...fileOf('huge.txt') },
  { what: 'a link to a folder outside', ...fileOf('folder/outside.txt') },
  { what: 'a path with a NUL', ...fileOf('a\0b') },
];

describe('refused', () => {
  it.each(ABUSES)('$what', async ({ call, answer, pauses }) => {
    const at = await scene();
    const { service } = at;
    if (pauses === true) await paused(at);
    const directive = call(at);
    const refused = await service.call(directive);
    expect([refused.status, refused.body.code]).toEqual(answer);
    expect(refused.text).not.toContain(OUTSIDE);
    const line = service.lines.find(({ status }) => status === answer[0]);
    expect(JSON.stringify(line)).not.toMatch(/pa-|outside/);
    const isKept = directive.method !== undefined || answer[0] === 401 || answer[0] === 403;
    if (!isKept) return;
    const entries = (await service.call({ path: '/api/v1/audit/search' })).body.items;
    const entry = entries.find(({ status }: { status: number }) => status === answer[0]);
    expect(entry.action === 'refused').toBe(answer[0] !== 404);
    expect(JSON.stringify(entries)).not.toContain(service.ada);
  });
});

describe('a trajectory', () => {
  it('is plain files in one folder, whatever an agent called its events and linked in its workspace', async () => {
    const { service, id } = await scene();
    const names = ['../../escape', '/etc/passwd', 'a\\..\\b', 'link'];
    await service.store.events.append(
      conversationId(id),
      names.map((name) => agentEvent(name)),
      Date.now(),
    );
    const response = await fetch(`${service.server.url}${APP}/${id}/download`, {
      headers: { authorization: `Bearer ${service.ada}` },
    });
    const entries = await entriesOf(Buffer.from(await response.arrayBuffer()));
    expect(entries.length).toBeGreaterThan(names.length);
    for (const { fileName, externalFileAttributes } of entries) {
      expect(fileName).toMatch(/^(meta\.json|event_\d{6}_[A-Za-z0-9_-]+\.json)$/);
      // The type of a Unix file in a zip: 0o12 is a symbolic link.
      expect((externalFileAttributes >>> 28) & 0o17).not.toBe(0o12);
    }
    const listed = (await service.call({ path: `${APP}/${id}/files` })).body;
    expect(listed).not.toEqual(expect.arrayContaining([expect.stringContaining('link')]));
  });
});

const FLOOD = 1_000;
/** Calls at once; a socket queues some hundreds that the server has not accepted yet. */
const LANES = 100;

describe('a flood of webhooks with a wrong key', () => {
  it('is refused call by call, noted once, and holds up nobody', async () => {
    const at = await scene();
    const { service, id, oldSessionKey } = at;
    const socketPath = path.join(service.folder, 'webhook.sock');
    const webhooks = await startWebhookServer(service.world, socketPath, service.store.audit);
    onTestFinished(() => webhooks.close());
    const tell = async (key: string, event: string): Promise<number> => {
      const call = { socketPath, path: `/api/v1/webhooks/events/${id}`, body: [agentEvent(event)] };
      return (await callSocket({ ...call, headers: { 'x-session-api-key': key } })).status;
    };
    const lane = async (_: unknown, at: number): Promise<readonly number[]> => {
      const found: number[] = [];
      for (let n = 0; n < FLOOD / LANES; n += 1) found.push(await tell('wrong', `forged-${at}-${n}`));
      return found;
    };
    const flood = Promise.all(Array.from({ length: LANES }, lane));
    expect(await tell(oldSessionKey, 'own')).toBe(200);
    expect((await service.call({ path: `${APP}?ids=${id}` })).status).toBe(200);
    const other = await startReady(service, {}, service.ben);
    expect(new Set((await flood).flat())).toEqual(new Set([401]));
    const events = (await service.call({ path: `/api/v1/conversation/${id}/events/search` })).body.items;
    const ids = events.map((event: { id: string }) => event.id);
    expect([ids.includes('own'), ids.some((one: string) => one.startsWith('forged'))]).toEqual([true, false]);
    const { items } = (await service.call({ path: '/api/v1/audit/search' })).body;
    const notes = items.filter(({ action }: { action: string }) => action === 'refused');
    expect(notes).toEqual([expect.objectContaining({ about: `webhook of ${id}`, status: 401 })]);
    expect(other.id).toMatch(/^[0-9a-f]{32}$/);
  }, 600_000);
});

function entriesOf(zip: Buffer): Promise<readonly Entry[]> {
  return new Promise((resolve, reject) => {
    fromBuffer(zip, (error, file) => {
      if (error !== null) return reject(error);
      const entries: Entry[] = [];
      file.on('entry', (entry: Entry) => void entries.push(entry));
      file.on('end', () => resolve(entries));
      file.on('error', reject);
    });
  });
}
