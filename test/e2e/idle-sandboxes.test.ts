/**
 * Idle Time and Deletion Time for real, shortened, over a real `parley serve` with real sandboxes: activity at the last
 * moment, the pause, the message that brings a sandbox back, and its end. The 12 hours have no setting; they are shown
 * by the simulator and under time skipping.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { closeDaemon, containersOf, dockerSocket } from '../../scripts/docker-daemon.ts';
import { callServed, serve, type Served } from '../api/served.ts';
import { eventually } from '../api/service.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const APP = '/api/v1/app-conversations';
/** Agents report their idle time in whole seconds. */
const IDLE_S = 2;
const IDLE_MS = IDLE_S * 1_000;
/** Before a sandbox is due; below zero it is overdue. Which of them meets a pause does not matter to what must hold. */
const MOMENTS_MS = [50, -150];
const LIFE_MS_MAX = 600_000;

interface Life {
  readonly id: string;
  readonly sandboxId: string;
  say(text: string): Promise<number>;
  sandbox(): Promise<{ readonly status: string; readonly pause_reason: string; readonly transition: string }>;
  /** Deletes the conversation, and its sandbox with it. */
  end(): Promise<void>;
  /** Texts of the messages that the agent has written down, in its order. */
  heard(): Promise<readonly string[]>;
}

async function begin(served: Served, first: string): Promise<Life> {
  const key = served.key ?? '';
  const get = async (at: string) => (await callServed(served, key, { path: at })).body;
  const post = (at: string, body: unknown) => callServed(served, key, { method: 'POST', path: at, body });
  const message = (text: string) => ({ content: [{ type: 'text', text }], run: false });
  const { body: task } = await post(APP, { initial_message: message(first) });
  const [ready] = await eventually(
    () => get(`${APP}/start-tasks?ids=${task.id}`),
    ([one]) => one.status === 'READY' || one.status === 'ERROR',
  );
  expect([ready.status, ready.detail]).toEqual(['READY', null]);
  const { app_conversation_id: id, sandbox_id: sandboxId } = ready;
  const sandbox = async () => (await get(`/api/v1/sandboxes?id=${sandboxId}`))[0];
  return {
    id,
    sandboxId,
    sandbox,
    async end() {
      await callServed(served, key, { method: 'DELETE', path: `${APP}/${id}` });
      await eventually(sandbox, ({ status, transition }) => status === 'MISSING' && transition === null);
    },
    say: async (text) => (await post(`${APP}/${id}/send-message`, message(text))).status,
    async heard() {
      const { items } = await get(`/api/v1/conversation/${id}/events/search?kind__eq=MessageEvent`);
      return items.map((event: { llm_message: { content: { text: string }[] } }) =>
        event.llm_message.content.map(({ text }) => text).join(''),
      );
    },
  };
}

function describeLives(runtime: () => string, left: () => readonly string[]): void {
  const serveWith = (folder: string, limits: string): Promise<Served> =>
    serve(folder, { config: `${runtime()}limits: { ${limits} }\n` });

  it(
    'pauses no sandbox within the Idle Time of its last activity, and the next message brings it back',
    async () => {
      const served = await serveWith(tempDir(), `idle_time: ${IDLE_S}, deletion_time: 0`);
      const texts = ['first'];
      let saidAt = Date.now();
      const life = await begin(served, 'first');
      const say = async (text: string): Promise<void> => {
        texts.push(text);
        saidAt = Date.now();
        expect(await life.say(text)).toBe(200);
        await eventually(life.heard, (heard) => heard.includes(text));
      };
      await say('second');
      for (const beforeMs of MOMENTS_MS) {
        await pause(Math.max(0, saidAt + IDLE_MS - beforeMs - Date.now()));
        await say(`${beforeMs} ms before it is due`);
      }
      const paused = await eventually(life.sandbox, ({ status }) => status === 'PAUSED');
      // The rule itself, not a speed: earlier would be within the Idle Time of the last message.
      expect(Date.now() - saidAt).toBeGreaterThanOrEqual(IDLE_MS);
      expect(paused.pause_reason).toBe('idle');
      await eventually(life.sandbox, ({ transition }) => transition === null);
      await say('after the pause');
      expect(await life.heard()).toEqual(texts);
      await life.end();
      expect(await served.end('SIGTERM'), served.notices()).toBe(0);
    },
    LIFE_MS_MAX,
  );

  it(
    'deletes a sandbox that stays paused for the Deletion Time, for good and with all its files',
    async () => {
      const folder = tempDir();
      const served = await serveWith(folder, `idle_time: ${IDLE_S}, deletion_time: 1`);
      const life = await begin(served, 'only');
      const directory = path.join(folder, 'data', 'sandboxes', life.sandboxId);
      expect(existsSync(directory)).toBe(true);
      await eventually(life.sandbox, ({ status, transition }) => status === 'MISSING' && transition === null);
      expect([existsSync(directory), readdirSync(path.dirname(directory)), left()]).toEqual([false, [], []]);
      expect(await life.say('too late')).toBe(410);
      // What was said stays to be read (D12).
      expect(await life.heard()).toEqual(['only']);
      expect(await served.end('SIGTERM'), served.notices()).toBe(0);
    },
    LIFE_MS_MAX,
  );
}

describeWith('bwrap', 'an idle sandbox of the process runtime', () => {
  describeLives(
    () => 'runtime: { isolation: namespaces }\n',
    () => [],
  );
});

describeWith('dockerd', 'an idle sandbox of the Docker runtime', () => {
  afterAll(closeDaemon);
  describeLives(
    () => `runtime: { kind: docker, docker: { socket: "${dockerSocket()}" } }\n`,
    () => containersOf(dockerSocket()),
  );
});
