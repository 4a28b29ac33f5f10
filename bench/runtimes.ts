/**
 * How long a sandbox takes to start, freeze, thaw, stop and resume, beside the bare cost; `--runtime docker` for containers.
 * Owns what is compared with what: an empty namespace or container, and the Agent Server booted by itself. Figures are
 * printed, never asserted; docs/bench.md says how to read them.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bootWarm, keepWarm } from '../activities/keep-warm-sandboxes.ts';
import { placeConversation } from '../activities/place-conversation.ts';
import { createSandbox } from '../activities/start-sandbox.ts';
import type { World } from '../activities/world.ts';
import { createAgentClient } from '../clients/agent/agent-client.ts';
import { systemClock } from '../engine/system-clock.ts';
import { openStore } from '../store/open-store.ts';
import { load, show, showTimes } from './all/figure.ts';
import { percentile } from './all/means.ts';
import { sandboxId, conversationId, userId, type SandboxId } from '../core/ids.ts';
import type { SandboxRuntime } from '../ports/sandbox-runtime.ts';
import { dockerDaemon } from '../runtimes/docker/docker-daemon.ts';
import { ensureImage } from '../runtimes/docker/image/sandbox-image.ts';
import { closeDaemon, dockerSocket } from '../scripts/docker-daemon.ts';
import { instantWorld } from './instant-world.ts';
import { PROGRAMS, runtimeIn } from './sandbox-runtime.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    isolation: { type: 'string', default: 'auto' },
    runtime: { type: 'string', default: 'process' },
  },
});
const count = Number(values.count);
/** Between two looks whether a bare agent answers: as the runtime has it for its own. */
const POLL_MS = 5;
const READY_MS = 30_000;

type Part =
  | 'bare namespace'
  | 'bare container'
  | 'bare agent boot'
  | 'create'
  | 'warm claim'
  | 'freeze'
  | 'thaw'
  | 'stop'
  | 'resume'
  | 'destroy';

const figures = new Map<Part, number[]>();

async function timed<T>(part: Part, work: () => Promise<T>): Promise<T> {
  const begin = performance.now();
  const result = await work();
  figures.set(part, [...(figures.get(part) ?? []), performance.now() - begin]);
  return result;
}

async function main(): Promise<void> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'pb-')));
  const isDocker = values.runtime === 'docker';
  const runtime = runtimeIn(dir, {
    isolation: values.isolation as 'auto',
    warn: (text) => void process.stderr.write(`${text}\n`),
    ...(isDocker && { daemonSocket: dockerSocket() }),
  });
  const bare = isDocker ? await bareContainer() : null;
  const warm = await openWarmClaims(runtime, dir);
  try {
    // Turn by turn, so that other work on the machine strikes all of them alike.
    for (let round = 0; round < count; round += 1) {
      if (bare === null) await timed('bare namespace', () => Promise.resolve(bareNamespace()));
      else await timed('bare container', bare);
      await bareAgent(dir);
      await oneLife(runtime);
      const claim = await warm.next();
      await timed('warm claim', claim);
      await warm.removeClaimed();
    }
  } finally {
    await warm.close();
    rmSync(dir, { recursive: true, force: true });
    await closeDaemon();
  }
  report(runtime);
}

/** What `docker run --network none IMAGE true` asks of the daemon, without the time of its client. */
async function bareContainer(): Promise<() => Promise<void>> {
  const daemon = dockerDaemon(dockerSocket());
  const { reference } = await ensureImage(daemon, 'host');
  const HostConfig = { NetworkMode: 'none' };
  return () =>
    daemon.ask('run a bare container', async (docker) => {
      const container = await docker.createContainer({ Image: reference, Cmd: ['true'], HostConfig });
      await container.start();
      await container.wait();
      await container.remove();
    });
}

function bareNamespace(): void {
  const flags = ['--unshare-all', '--ro-bind', '/usr', '/usr', '--symlink', 'usr/lib', '/lib'];
  spawnSync('bwrap', [...flags, '--symlink', 'usr/lib64', '/lib64', '--', '/usr/bin/true']);
}

/** The Agent Server alone: from the start of Node.js until it answers. */
async function bareAgent(dir: string): Promise<void> {
  const socketPath = join(dir, `bare-${randomBytes(4).toString('hex')}.sock`);
  const env = {
    PATH: process.env['PATH'],
    PARLEY_AGENT_SOCKET: socketPath,
    PARLEY_WORKSPACE_DIR: dir,
    OH_SESSION_API_KEYS_0: 'bench',
    OH_CONVERSATIONS_PATH: join(dir, 'bare-conversations'),
  };
  await timed('bare agent boot', async () => {
    const child = spawn(process.execPath, [PROGRAMS.agentServer], { env, stdio: 'ignore' });
    const until = performance.now() + READY_MS;
    while (!(await answers(socketPath)) && performance.now() < until) {
      await new Promise((wake) => setTimeout(wake, POLL_MS));
    }
    child.kill('SIGKILL');
  });
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((settle) => {
    const probe = request({ socketPath, path: '/health', agent: false }, (response) => {
      response.resume();
      settle(response.statusCode === 200);
    });
    probe.on('error', () => settle(false));
    probe.end();
  });
}

async function oneLife(runtime: SandboxRuntime): Promise<void> {
  const id = sandboxId(randomBytes(16).toString('hex'));
  const start = (generation: number): Promise<unknown> =>
    runtime.start({ sandboxId: id, generation, sessionKey: 'bench', deadline: Date.now() + READY_MS });
  const first = { sandboxId: id, generation: 1 };
  const { freezer } = runtime;
  await timed('create', () => start(1));
  if (freezer !== undefined) {
    await timed('freeze', () => freezer.freeze(first));
    await timed('thaw', () => freezer.thaw(first));
  }
  await timed('stop', () => runtime.stop(first));
  await timed('resume', () => start(2));
  await timed('destroy', () => runtime.destroy(id));
}

function report({ capabilities }: SandboxRuntime): void {
  process.stdout.write(
    `${capabilities.kind}, ${capabilities.isolation}, ${count} each, load ${load()}; milliseconds\n`,
  );
  for (const [part, all] of figures)
    showTimes(
      `${capabilities.kind}, ${part}`,
      all,
      part === 'freeze' || part === 'thaw' ? ['≤', 50] : undefined,
    );
  for (const part of ['create', 'resume'] as const) showRatio(part);
}

/** Beside the agent alone, and beside the agent and an empty sandbox one after the other: the least that both take. */
function showRatio(part: Part): void {
  const median = (one: Part): number => percentile(figures.get(one) ?? [], 0.5);
  const boot = median('bare agent boot');
  const empty = median(figures.has('bare container') ? 'bare container' : 'bare namespace');
  show(
    { what: `${part} to the agent's bare boot`, value: median(part) / boot, unit: 'times', aim: ['≤', 1.3] },
    `${(median(part) / (boot + empty)).toFixed(2)} times both bare`,
  );
}

await main();

const WISH = { size: 1, maxAgeMs: 3_600_000, spec: 'bench' };

interface WarmClaims {
  /** Boots one, and gives the claim on it. @throws Error when it could not be booted */
  next(): Promise<() => Promise<void>>;
  removeClaimed(): Promise<void>;
  close(): Promise<void>;
}

/** Claims on a warm pool of one, over a real store and the real Agent Server. */
async function openWarmClaims(runtime: SandboxRuntime, dir: string): Promise<WarmClaims> {
  const store = await openStore({ kind: 'sqlite', path: join(dir, 'warm.db') });
  const parts = { store, clock: systemClock, notifier: { deliver: () => Promise.resolve() } };
  const base = instantWorld(parts);
  const agent = createAgentClient({ dialect: 'reference' });
  const deployment = { ...base.deployment, warmPool: WISH };
  const world: World = { ...base, runtime, agent, deployment };
  const claimed: SandboxId[] = [];
  return {
    async next() {
      const memory = { booting: new Set<SandboxId>(), isBackingOff: false, polls: false };
      const { boots, problems } = await keepWarm(world, memory, () => sandboxId(hex()));
      const failures = await Promise.all(boots.map((id) => bootWarm(world, id)));
      const [problem] = [...problems, ...failures.filter((failure) => failure !== null)];
      if (problem !== undefined) throw new Error(problem);
      return async () => void claimed.push(await claim(world));
    },
    async removeClaimed() {
      for (const id of claimed.splice(0)) await runtime.destroy(id);
    },
    async close() {
      for (const { sandboxId: id } of await store.warmPool.held()) await runtime.destroy(id);
      await agent.close();
      await store.close();
    },
  };
}

/** @throws Error when it was given a new one: that is another figure */
async function claim(world: World): Promise<SandboxId> {
  const context = { signal: new AbortController().signal, attempt: 0 };
  const command = {
    type: 'placeConversation',
    id: 'c#1',
    conversationId: conversationId(hex()),
    userId: userId('bench'),
    strategy: 'NO_GROUPING',
    sandboxId: null,
    excluded: [],
  } as const;
  const placed = await placeConversation(world).run(command, context);
  const spec = placed?.type === 'placed' ? placed.spec : null;
  if (spec?.bootedAt === undefined) throw new Error('it was no claim on the warm pool');
  const { sandboxId: id, bootedAt } = spec;
  const order = { type: 'createSandbox', id: 's#1', sandboxId: id, generation: 1, bootedAt } as const;
  await createSandbox(world).run({ ...order, deadline: Date.now() + READY_MS }, context);
  return id;
}

const hex = (): string => randomBytes(16).toString('hex');
