/**
 * A host that drains, of two real workers with data directories of their own: it is given nothing new, what works there goes
 * on, what was released is archived, and what it made is whole on the disk of another host (D12, D33).
 */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Body, Caller } from '../../bench/cluster/caller.ts';
import { describeWith } from '../helpers/requires.ts';
import type { RunningProgram } from './running-program.ts';
import { openTwoHosts, type HostName, type TwoHosts } from './two-hosts.ts';
import { recordsIn } from './upgrade-batch.ts';

const ALL_MS_MAX = 600_000;
const POLL = { timeout: 240_000, interval: 200 };
const APP = '/api/v1/app-conversations';
const IDLE_S = 12;
/** More than one part of an upload, and no text. */
const LARGE_BYTES = 9 * 1024 * 1024;

const TEXT = 'Write a note about wells into text.md.';
const GATED = 'Wait for the gate, then write into gated.md.';
/** An agent that works until the test makes the file. */
const GATED_SCRIPT = `
  - name: gated
    when: { contains: 'into gated.md' }
    turns:
      - say: I wait.
        tool: terminal
        arguments: { command: 'touch waiting; while [ ! -e gate ]; do sleep 0.2; done; echo through > gated.md', timeout: 300 }
        usage: { prompt: 300, completion: 20 }
      - tool: finish
        arguments: { message: I am through. }
        usage: { prompt: 400, completion: 10 }
`;

type Row = Readonly<Record<string, unknown>>;
type Role = 'released' | 'idle' | 'live';

describeWith('temporal', 'a host that drains', () => {
  describeWith('postgres', 'of two with one database', () => {
    describeWith('s3-server', 'and one bucket', () => {
      let hosts: TwoHosts;
      let caller: Caller;
      let served: RunningProgram;
      const workers = new Map<HostName, RunningProgram>();
      const records = new Map<Role, Body>();
      const hashes = new Map<Role, string>();

      beforeAll(async () => {
        const limits = { PARLEY_IDLE_TIME: String(IDLE_S), PARLEY_DELETION_TIME: '0' };
        hosts = await openTwoHosts(limits, { script: GATED_SCRIPT });
        for (const name of ['alpha', 'beta'] as const) workers.set(name, await hosts.startWorker(name));
        ({ program: served, caller } = await hosts.serve());
      }, ALL_MS_MAX);
      afterAll(async () => {
        await Promise.all([...workers.values(), served].map(stop));
        await hosts?.close();
      }, ALL_MS_MAX);

      const parley = async (as: HostName, ...args: readonly string[]): Promise<readonly Row[]> => {
        const end = await hosts.start(as, [...args, '--json']).ended;
        expect(end.code, end.stderr).toBe(0);
        return recordsIn(`{}\n${end.stdout}`);
      };
      const hostRow = async (name: HostName): Promise<Row | undefined> =>
        (await parley('beta', 'hosts', 'list')).find((row) => row['type'] === 'host' && row['name'] === name);
      const started = async (key: string, text: string, host?: HostName): Promise<Body> => {
        const body = { ...(host && { host }), initial_message: { content: [{ type: 'text', text }] } };
        const { body: task } = await caller.call({ method: 'POST', path: APP, body, key });
        const found = async (): Promise<Body> => (await caller.get(`${APP}/start-tasks?ids=${task.id}`))[0];
        await expect.poll(async () => (await found()).status, POLL).toBe('READY');
        return await record((await found()).app_conversation_id);
      };
      const record = async (id: string): Promise<Body> => (await caller.get(`${APP}?ids=${id}`))[0];
      const finished = async (id: string): Promise<Body> => {
        await expect.poll(async () => (await record(id)).execution_status, POLL).toBe('FINISHED');
        return await record(id);
      };
      const sandbox = async (role: Role): Promise<Body> =>
        (await caller.get(`/api/v1/sandboxes?id=${records.get(role).sandbox_id}`))[0];
      const isGone = async (role: Role): Promise<void> =>
        await expect.poll(async () => (await sandbox(role)).status, POLL).toBe('MISSING');
      const say = async (role: Role, text: string) => {
        const at = `${APP}/${records.get(role).id}/send-message`;
        const body = { content: [{ type: 'text', text }], run: true };
        return await caller.call({ method: 'POST', path: at, body });
      };
      const pause = async (role: Role): Promise<void> => {
        const at = `/api/v1/sandboxes/${records.get(role).sandbox_id}/pause`;
        await caller.call({ method: 'POST', path: at });
        await expect.poll(async () => (await sandbox(role)).status, POLL).toBe('PAUSED');
      };
      /** The workspace of a conversation on the disk of its host. */
      const workspace = (role: Role): string => {
        const of = `/${records.get(role).sandbox_id}/`;
        const [file = ''] = hosts.filesNamed('alpha', 'text.md').filter((one) => one.includes(of));
        return path.dirname(file);
      };

      it(
        'has one that works, one that is idle and one that was released',
        async () => {
          for (const role of ['released', 'idle'] as const) {
            records.set(role, await finished((await started(role, TEXT, 'alpha')).id));
            writeFileSync(path.join(workspace(role), 'large.bin'), bytes(role));
            hashes.set(role, treeHash(workspace(role)));
            if (role === 'released') await pause(role);
          }
          records.set('live', await started('live', GATED, 'alpha'));
          await expect.poll(() => hosts.filesNamed('alpha', 'waiting').length, POLL).toBe(1);
          expect(hosts.sandboxesOn('alpha')).toHaveLength(3);
          expect(hosts.sandboxesOn('beta')).toEqual([]);
        },
        ALL_MS_MAX,
      );

      it(
        'is given nothing new, and resumes what was released there',
        async () => {
          await parley('beta', 'hosts', 'drain', 'alpha');
          expect(await hostRow('alpha')).toMatchObject({ state: 'draining', archives_released: false });
          const fresh = await Promise.all(['one', 'two', 'three'].map((key) => started(key, TEXT)));
          for (const { sandbox_id: id } of fresh) expect(hosts.sandboxesOn('beta')).toContain(id);
          const said = await say('released', TEXT);
          expect(said.status, JSON.stringify(said.body)).toBe(200);
          await expect.poll(async () => (await sandbox('released')).status, POLL).toBe('RUNNING');
          await finished(records.get('released').id);
          expect(treeHash(workspace('released'))).toBe(hashes.get('released'));
          await pause('released');
          expect(hosts.sandboxesOn('alpha')).toHaveLength(3);
        },
        ALL_MS_MAX,
      );

      it(
        'archives what is released, at once or after its Idle Time, and leaves alone what works',
        async () => {
          await parley('beta', 'hosts', 'drain', 'alpha', '--archive-released');
          expect(await hostRow('alpha')).toMatchObject({ state: 'draining', archives_released: true });
          await isGone('released');
          await isGone('idle');
          expect((await sandbox('live')).status).toBe('RUNNING');
          expect(hosts.sandboxesOn('alpha')).toEqual([records.get('live').sandbox_id]);
          for (const role of ['released', 'idle'] as const) {
            expect((await say(role, 'too late')).status).toBe(410);
            const at = `/api/v1/conversation/${records.get(role).id}/events/search?kind__eq=MessageEvent`;
            expect(JSON.stringify(await caller.get(at))).toContain(TEXT);
          }
        },
        ALL_MS_MAX,
      );

      it(
        'drains on when its worker is another, until nothing is left',
        async () => {
          await stop(workers.get('alpha') as RunningProgram);
          workers.set('alpha', await hosts.startWorker('alpha'));
          expect(await hostRow('alpha')).toMatchObject({ state: 'draining', sandboxes: 1 });
          const [waiting = ''] = hosts.filesNamed('alpha', 'waiting');
          writeFileSync(path.join(path.dirname(waiting), 'gate'), '');
          await finished(records.get('live').id);
          await isGone('live');
          expect(hosts.sandboxesOn('alpha')).toEqual([]);
          expect(await hostRow('alpha')).toMatchObject({ sandboxes: 0, up: 0 });
        },
        ALL_MS_MAX,
      );

      it(
        'leaves archives that another host unpacks, byte for byte',
        async () => {
          const checked = await parley('beta', 'archive', 'verify');
          const whole = checked.filter(({ check }) => check === 'whole').map((row) => row['sandbox_id']);
          for (const { sandbox_id: id } of records.values()) expect(whole).toContain(id);
          for (const role of ['released', 'idle'] as const) {
            const folder = path.join(hosts.copy.root, `unpacked-${role}`);
            await parley('beta', 'archive', 'restore', records.get(role).sandbox_id, folder);
            const [file = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
              (one) => path.basename(one) === 'text.md',
            );
            expect(treeHash(path.join(folder, path.dirname(file)))).toBe(hashes.get(role));
          }
        },
        ALL_MS_MAX,
      );

      it(
        'is given sandboxes again once it is undrained',
        async () => {
          await parley('beta', 'hosts', 'undrain', 'alpha');
          expect(await hostRow('alpha')).toMatchObject({ state: 'live', archives_released: false });
          const { sandbox_id: id } = await started('again', TEXT, 'alpha');
          expect(hosts.sandboxesOn('alpha')).toEqual([id]);
        },
        ALL_MS_MAX,
      );
    });
  });
});

async function stop(program: RunningProgram): Promise<void> {
  process.kill(program.pid, 'SIGTERM');
  await program.ended;
}

/** No two parts of it are alike, and it is the same in every run. */
function bytes(seed: string): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at < LARGE_BYTES; at += 64)
    blocks.push(createHash('sha512').update(`${seed} ${at}`).digest());
  return Buffer.concat(blocks);
}

/** Of names, modes and contents of all files in it. */
function treeHash(folder: string): string {
  expect(existsSync(folder)).toBe(true);
  const hash = createHash('sha256');
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const file = path.join(folder, name);
    const found = lstatSync(file);
    hash.update(`${name}\0${found.mode}\0${found.size}\0`);
    if (found.isFile()) hash.update(readFileSync(file));
  }
  return hash.digest('hex');
}
