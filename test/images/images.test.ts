/**
 * The images of chart/images/, built by a real daemon from a base that is made of this machine, and started as they are
 * shipped: as no user that the image knows, on a read-only root, without a network; and temporal-compose.yml with them.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agentFolder, AGENT_VERSIONS } from '../../scripts/acp-agents.js';
import { closeDaemon, dockerSocket } from '../../scripts/docker-daemon.ts';
import { installedComposeTools } from '../../scripts/compose-tools.js';
import {
  docker,
  MACHINE_BASE,
  makeBaseImage,
  makePostgresImage,
  makeTemporalImage,
  makeUiImage,
  type DockerCommand,
} from '../../scripts/machine-images.ts';
import { parley } from '../cli/parley-program.ts';
import { sumOf } from '../e2e/ledger.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { converse, sayMore, TEXT, textOf } from './compose-conversation.ts';
import { API, ComposeStack, imageOf, type ComposeOrder } from './compose-stack.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PARLEY = imageOf('worker');
const SANDBOX = 'parley-test-sandbox:1';
const WITH_AGENT = 'parley-test-opencode-whole:1';
const RUN_ID = 'shipped';
/** A whole run has so many; PARLEY_COMPOSE_BATCH=50 has more, and lasts accordingly. */
const CONVERSATIONS = Number(process.env['PARLEY_COMPOSE_BATCH'] ?? '12');
/** In turn, each restarted and then killed while the batch goes on. */
const SERVICES = ['worker', 'api', 'temporal', 'postgresql', 'proxy', 'temporal-ui'];
const MS_MAX = 1_800_000;
/** What the image may add to its base. */
const BYTES_MAX = 200e6;
/** What the programs load of packages only when they are asked for that engine, runtime or store. */
const LOADED_LATE = [
  ...['@temporalio/worker', '@temporalio/client', '@temporalio/activity', 'dockerode'],
  ...['@kubernetes/client-node', 'pg', 'libsql', 'fastify'],
];
/** As the chart and temporal-compose.yml start a container. */
const CLOSED = ['--rm', '--read-only', '--network', 'none', '--cap-drop', 'ALL'];
const SHIPPED = [...CLOSED, '--tmpfs', '/tmp'];

describeWith('dockerd', 'images', () => {
  let command: DockerCommand;
  const inspected = async (image: string, format: string): Promise<string> =>
    (await docker(command, 'image', 'inspect', '--format', format, image)).trim();

  beforeAll(async () => {
    const socket = dockerSocket();
    // The builder that every daemon has; recipes ask for nothing of a newer one.
    command = { socket, env: { DOCKER_HOST: `unix://${socket}`, DOCKER_BUILDKIT: '0' } };
    await makeBaseImage(command);
    for (const [recipe, tag] of [
      ['parley', PARLEY],
      ['sandbox', SANDBOX],
    ] as const) {
      const file = ['--file', `${ROOT}/chart/images/${recipe}/Containerfile`, '--tag', tag];
      const network = ['--network', 'host', '--build-arg', `BASE_IMAGE=${MACHINE_BASE}`];
      await docker(command, 'build', ...network, ...file, ROOT);
    }
  }, 1_800_000);
  afterAll(closeDaemon);

  it('adds at most 200 MB to its base', async () => {
    const [whole, base] = [await inspected(PARLEY, '{{.Size}}'), await inspected(MACHINE_BASE, '{{.Size}}')];
    expect(Number(whole) - Number(base)).toBeLessThanOrEqual(BYTES_MAX);
  });

  it.each([PARLEY, SANDBOX])('%s runs as user 10001 unless it is told another', async (image) => {
    expect(await inspected(image, '{{.Config.User}}')).toBe('10001:10001');
  });

  it('runs on a read-only root as a user that it does not know', async () => {
    const said = await docker(
      command,
      'run',
      ...SHIPPED,
      '--user',
      '12345:12345',
      PARLEY,
      'config',
      'explain',
    );
    expect(said).toContain('store.path');
  });

  it('has every package that is loaded late, and none that only builds or tests', async () => {
    const script = `(async () => {
      for (const name of ${JSON.stringify(LOADED_LATE)}) await import(name);
      console.log(require('fs').readdirSync('node_modules').join(' '));
    })()`;
    const said = await docker(
      command,
      ...['run', ...SHIPPED, '--workdir', '/opt/parley', '--entrypoint', 'node', PARLEY, '-e', script],
    );
    const words = said.split(/\s/);
    expect(words).toContain('fastify');
    for (const name of ['vitest', 'typescript', 'esbuild', 'eslint', 'prettier', 'vite'])
      expect(words).not.toContain(name);
  });

  describeWith('acp-agents', 'an image with an agent', () => {
    it(
      'is built from the recipe of a sandbox, without an image that is there, and has the programs of both',
      async () => {
        const cwd = tempDir();
        writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: data }\n');
        const from = agentFolder('opencode', process.env) ?? '';
        const added = await parley(['agent', 'add', 'opencode', '--from', from], { cwd });
        expect(added.exitCode, added.stderr).toBe(0);
        const words = ['image', 'build', '--agent', 'opencode', '--tag', WITH_AGENT, '--json'];
        const base = ['--base-image', MACHINE_BASE, '--build-arg=--network=host'];
        const env = { DOCKER_HOST: `unix://${command.socket}`, DOCKER_BUILDKIT: '0' };
        const built = await parley([...words, ...base], { cwd, env });
        expect(built.exitCode, built.stderr).toBe(0);
        expect(built.stderr).toContain(`building the sandbox ${WITH_AGENT}-sandbox from`);
        const script = 'opencode --version && ls /opt/parley';
        const run = [
          'run',
          ...CLOSED,
          '--user',
          '0:0',
          '--tmpfs',
          '/tmp:exec,mode=1777',
          '--env',
          'HOME=/tmp',
        ];
        const said = await docker(command, ...run, '--entrypoint', 'sh', WITH_AGENT, '-c', script);
        expect(said.split('\n')[0]).toBe(AGENT_VERSIONS.opencode);
        expect(said.split('\n')).toEqual(expect.arrayContaining(['agent-server.cjs', 'sandbox-init.cjs']));
        expect(await inspected(WITH_AGENT, '{{.Config.User}}')).toBe('10001:10001');
      },
      MS_MAX,
    );
  });

  it('has the programs of a sandbox, and Node.js and Git for them', async () => {
    const script =
      'node --check /opt/parley/sandbox-init.cjs && git --version && ls /opt/parley /workspace /agent';
    const said = await docker(command, 'run', ...SHIPPED, '--entrypoint', 'sh', SANDBOX, '-c', script);
    for (const name of [
      'agent-server.cjs',
      'agent-server.cjs.compiled',
      'workspace-reader.cjs',
      'git version',
    ])
      expect(said).toContain(name);
  });

  describeWith('compose-local', 'temporal-compose.yml', () => {
    const order = async (): Promise<ComposeOrder> => {
      const tools = installedComposeTools(process.env);
      if (tools === null) throw new Error('Cannot start the stack: its programs are not installed');
      await makePostgresImage(command, imageOf('postgresql'));
      await makeTemporalImage(command, { image: imageOf('temporal'), tools });
      await makeUiImage(command, { image: imageOf('temporal-ui'), tools });
      return { command, tools, sandboxImage: await inspected(SANDBOX, '{{.Id}}') };
    };
    let stack: ComposeStack;
    let conversation = '';
    beforeAll(async () => {
      stack = new ComposeStack(await order());
      await stack.up();
    }, MS_MAX);
    afterAll(() => stack.close(), MS_MAX);

    it('comes up with one command, everything on this machine alone and nobody served without a key', async () => {
      expect((await fetch(`${API}/api/v1/app-conversations/search`)).status).toBe(401);
      expect((await fetch('http://127.0.0.1:8233/')).status).toBe(200);
      expect((await fetch('http://127.0.0.1:4000/health/readiness')).status).toBe(200);
      const answer = await fetch('http://127.0.0.1:8233/api/v1/namespaces');
      expect(JSON.stringify(await answer.json())).toContain('"parley"');
    });

    it('lets the API reach what the worker made: the answer, its file, and a second message', async () => {
      conversation = await converse(stack, 'Write a note about wells into text.md.');
      expect(await textOf(stack, conversation)).toContain(TEXT);
    });

    it(
      'loses nothing of a batch while every service is restarted and killed',
      async () => {
        const { client } = stack;
        const billedBefore = stack.ledger();
        const env = { ...stack.env, PARLEY_API_KEY: stack.env['PARLEY_FIRST_API_KEY'] ?? '' };
        const args = ['run', 'job.yaml', '--json', '--run-id', RUN_ID, '--limit', String(CONVERSATIONS)];
        const cwd = path.join(stack.folder, 'deployment');
        const waiting = parley([...args, '--server', API], { cwd, env });
        let isOver = false;
        void waiting.finally(() => (isOver = true));
        await expect
          .poll(() =>
            client.getRun({ params: { run_id: RUN_ID } }).then(
              ({ in_flight: some }) => some > 0,
              () => false,
            ),
          )
          .toBe(true);
        const done: string[] = [];
        for (const service of SERVICES) {
          const during = isOver ? 'after' : 'during';
          await stack.restart(service);
          await stack.kill(service);
          done.push(`${service} ${during}`);
        }
        const end = await waiting;
        expect(end.exitCode, `${end.stderr}\n${done.join(', ')}`).toBe(0);
        expect(done[0]).toBe('worker during');
        const run = await client.getRun({ params: { run_id: RUN_ID } });
        expect(run).toMatchObject({ phase: 'finished', total: CONVERSATIONS });
        expect(run.ended).toEqual({ succeeded: CONVERSATIONS });
        const rows = stack.ledger().slice(billedBefore.length);
        const billed = Number(sumOf(rows));
        expect(run.reconciliation).toMatchObject({ assigned_nano_usd: billed });
        // The conversation before it ended within the window of its bill; every other row is assigned.
        const othersFrom = billedBefore.length + rows.length - (run.reconciliation?.rows ?? 0);
        const others = Number(sumOf(billedBefore.slice(othersFrom)));
        expect(run.reconciliation?.total_nano_usd).toBe(billed + others);
        expect(run.spent_nano_usd).toBe(billed);
      },
      MS_MAX,
    );

    it('has the conversation and its sandbox still, after the end of everything around them', async () => {
      expect(await textOf(stack, conversation)).toContain(TEXT);
      await sayMore(stack, conversation);
    });

    it(
      'goes down, leaving no container of its own, and has everything when it comes up again',
      async () => {
        await stack.down();
        expect(await stack.containers()).toEqual([]);
        await stack.up();
        const run = await stack.client.getRun({ params: { run_id: RUN_ID } });
        expect(run.ended).toEqual({ succeeded: CONVERSATIONS });
        expect(await textOf(stack, conversation)).toContain(TEXT);
        await sayMore(stack, conversation);
        await stack.client.deleteAppConversation({ params: { conversation_id: conversation } });
      },
      MS_MAX,
    );
  });
});
