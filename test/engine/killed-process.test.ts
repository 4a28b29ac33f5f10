/** A process with an engine, killed at random moments and started again until everything has ended. */
import { buildSync } from 'esbuild';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RandomStream } from '../../simulator/random.ts';
import { openStore } from '../../store/open-store.ts';
import { endProcess } from '../helpers/end-process.ts';
import { seedsOf } from '../helpers/seeds.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { databaseOf, killedConversation, logOf, type KillRequest } from './killed-engine.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const { seed: FIRST_SEED, count: LIVES } = seedsOf('killed-engine');
const CONVERSATIONS = 12;
const MESSAGES = 3;
/** After so many kills the process is left alone, so that the test ends on a slow machine, too. */
const KILLS_MAX = 20;
/** Time from `up` to the kill at most: about what all of the work takes. */
const LIFE_MS_MAX = 90;

function buildProgram(): string {
  const folder = tempDir();
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const outfile = path.join(folder, 'killed-engine.mjs');
  const contents = `import { runKilledEngine } from './killed-engine.ts'; await runKilledEngine(JSON.parse(process.argv[2]));`;
  const stdin = { contents, resolveDir: import.meta.dirname };
  buildSync({
    stdin,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  return outfile;
}

/** One life: the deliveries it acknowledged, and whether everything had ended before it was killed. */
async function live(
  program: string,
  request: KillRequest,
  killAfterMs: number | null,
): Promise<{ readonly accepted: readonly string[]; readonly done: boolean }> {
  const child = spawn(process.execPath, [program, JSON.stringify(request)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => endProcess(child));
  const exit = once(child, 'exit');
  const accepted: string[] = [];
  let done = false;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'up' && killAfterMs !== null) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    if (line.startsWith('accepted ')) accepted.push(line.slice('accepted '.length));
    done ||= line === 'done';
  }
  await exit;
  return { accepted, done };
}

async function liveUntilDone(
  program: string,
  seed: number,
): Promise<{ readonly folder: string; readonly accepted: readonly string[]; readonly kills: number }> {
  const folder = tempDir();
  const random = new RandomStream(seed);
  const accepted: string[] = [];
  for (let kills = 0; ; kills += 1) {
    const request: KillRequest = { folder, conversations: CONVERSATIONS, messages: MESSAGES, accepted };
    const life = await live(program, request, kills < KILLS_MAX ? random.next() * LIFE_MS_MAX : null);
    accepted.push(...life.accepted);
    if (life.done) return { folder, accepted, kills };
  }
}

async function finalSet(folder: string): Promise<unknown> {
  const store = await openStore({ kind: 'sqlite', path: databaseOf(folder) });
  const rows = await store.records.conversations();
  const conversations = rows.map((row) => [
    row.conversationId,
    row.startTask,
    row.executionStatus,
    row.queuedMessages,
    row.sandboxStatus,
  ]);
  const out = (await store.engine.outbox()).map(({ command }) => (command as { type: string }).type);
  const inbox = await store.engine.inbox();
  await store.close();
  return { conversations: conversations.sort(), out, inbox };
}

const EXPECTED = {
  conversations: Array.from({ length: CONVERSATIONS }, (_, index) => [
    killedConversation(index),
    'READY',
    'FINISHED',
    0,
    'RUNNING',
  ]),
  out: Array(CONVERSATIONS).fill('watchIdle'),
  inbox: [],
};

/** Commands that were carried out again after their answer was durable. */
function repeatedAfterAnswer(lines: readonly string[]): readonly string[] {
  const answered = new Set<string>();
  return lines.filter((line) => {
    const [word, id = ''] = line.split(' ');
    if (word === 'answered') answered.add(id);
    return word === 'ran' && answered.has(id);
  });
}

describe('an engine that is killed again and again', () => {
  it('comes to the same end, loses no accepted delivery, and repeats no answered command', async () => {
    const program = buildProgram();
    let [kills, attempts, commands] = [0, 0, 0];
    for (let at = 0; at < LIVES; at += 1) {
      const life = await liveUntilDone(program, FIRST_SEED + at);
      expect(await finalSet(life.folder)).toEqual(EXPECTED);
      const lines = readFileSync(logOf(life.folder), 'utf8').trim().split('\n');
      expect(repeatedAfterAnswer(lines)).toEqual([]);
      const delivered = new Set(
        lines.filter((line) => line.startsWith('delivered ')).map((line) => line.slice('delivered '.length)),
      );
      expect([...life.accepted].filter((name) => !delivered.has(name))).toEqual([]);
      expect(delivered.size).toBe(CONVERSATIONS * (1 + MESSAGES));
      const ran = lines.filter((line) => line.startsWith('ran '));
      kills += life.kills;
      attempts += ran.length;
      commands += new Set(ran).size;
    }
    // Kills that hit nothing would prove nothing: some command had to be carried out again.
    expect(kills).toBeGreaterThan(3);
    expect(attempts).toBeGreaterThan(commands);
  }, 600_000);
});
