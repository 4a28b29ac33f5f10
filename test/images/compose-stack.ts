/**
 * temporal-compose.yml as it is shipped, started with images of its names that were made here, beside a gateway that
 * answers from the script of examples/three-hundred.
 * Owns the start, how a service is restarted and how it is killed, and the end of all of it; must not assert.
 */
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DockerComposeEnvironment, Wait, type StartedDockerComposeEnvironment } from 'testcontainers';
import { expect, vi } from 'vitest';
import { parse } from 'yaml';
import { createClient, type Client } from '../../api/client/client.ts';
import type { LedgerRow } from '../../scripted-gateway/ledger.ts';
import type { ComposeTools } from '../../scripts/compose-tools.js';
import { docker, MACHINE_BASE, type DockerCommand } from '../../scripts/machine-images.ts';
import { rowsOf } from '../e2e/ledger.ts';
import { removeDir } from '../helpers/temp-dir.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
export const COMPOSE_FILE = path.join(ROOT, 'temporal-compose.yml');
const EXAMPLE = path.join(ROOT, 'examples/three-hundred');
export const API = 'http://127.0.0.1:3030';
const PROJECT = 'parley-compose-test';
const START_MS_MAX = 600_000;
const HEALTHY_MS_MAX = 300_000;

/** The gateway, of which the file that is shipped knows the address alone. */
const GATEWAY = `
services:
  gateway:
    image: parley:0.1.0
    user: '0:0'
    restart: unless-stopped
    entrypoint: [node, /opt/parley/dist/scripted-gateway.js]
    command: [/deployment/gateway.yaml, --host, 0.0.0.0, --port, '4010', --ledger, /ledger/spend.jsonl]
    environment: { PARLEY_GATEWAY_KEY: $PARLEY_GATEWAY_KEY }
    volumes: ['$PARLEY_DEPLOYMENT_DIR:/deployment:ro', '$PARLEY_TEST_LEDGER:/ledger']
    healthcheck:
      test: [CMD, node, --eval, "require('net').connect(4010, '127.0.0.1').on('error', () => process.exit(1)).on('connect', () => process.exit(0))"]
      interval: 5s
      timeout: 30s
      retries: 12
`;

/** The job of the example, held to the bill of its gateway to the nano-dollar. */
const RECONCILE = `
reconcile:
  rows: gateway
  settle: 5s
  expect: { unmatched_usd: 0, unbilled: 0 }
`;

export interface ComposeOrder {
  readonly command: DockerCommand;
  readonly tools: ComposeTools;
  /** Of the sandboxes, by digest. */
  readonly sandboxImage: string;
}

/** Image that a service of the file names. */
export function imageOf(service: string): string {
  const { services } = parse(readFileSync(COMPOSE_FILE, 'utf8'), { merge: true }) as {
    readonly services: Readonly<Record<string, { readonly image: string }>>;
  };
  return services[service]?.image ?? '';
}

export class ComposeStack {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #command: DockerCommand;
  #started: StartedDockerComposeEnvironment | null = null;

  constructor({ command, tools, sandboxImage }: ComposeOrder) {
    this.folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'pc-')));
    const folderOf = (name: string): string => path.join(this.folder, name);
    for (const name of ['host', 'deployment', 'ledger', 'docker']) mkdirSync(folderOf(name));
    cpSync(EXAMPLE, folderOf('deployment'), { recursive: true });
    appendFileSync(folderOf('deployment/job.yaml'), RECONCILE);
    writeFileSync(folderOf('gateway.yml'), GATEWAY);
    writeFileSync(folderOf('docker/config.json'), JSON.stringify({ cliPluginsExtraDirs: [tools.compose] }));
    this.env = {
      ...{ DOCKER_HOST: `unix://${command.socket}`, DOCKER_CONFIG: folderOf('docker') },
      ...{ PARLEY_DOCKER_SOCKET: command.socket, PARLEY_DOCKER_IMAGE: sandboxImage },
      PARLEY_DOCKER_GROUP: String(statSync(command.socket).gid),
      PARLEY_HOST_DIR: folderOf('host'),
      PARLEY_DEPLOYMENT_DIR: folderOf('deployment'),
      PARLEY_TEST_LEDGER: folderOf('ledger'),
      POSTGRES_PASSWORD: 'made-up',
      PARLEY_SEAL_KEY: Buffer.alloc(32, 7).toString('base64'),
      PARLEY_FIRST_API_KEY: `pa-${'0'.repeat(64)}`,
      PARLEY_GATEWAY_URL: 'http://gateway:4010/v1',
      PARLEY_GATEWAY_EXPORT: 'http://gateway:4010/spend/export',
      PARLEY_GATEWAY_KEY: 'sk-made-up',
      PARLEY_MODEL: 'openai/acme/writer-1',
      PROXY_MASTER_KEY: 'sk-made-up-master',
    };
    this.#command = { socket: command.socket, env: { ...command.env, ...this.env } };
  }

  get client(): Client {
    return createClient({ url: API, key: this.env['PARLEY_FIRST_API_KEY'] ?? '' });
  }

  /** `docker compose up --detach --wait`, once more after a `down` too. @throws what compose said, with the logs */
  async up(): Promise<void> {
    for (const name of ['DOCKER_HOST', 'DOCKER_CONFIG']) vi.stubEnv(name, this.env[name]);
    // A daemon without its own bridge has no gateway to be looked for, and what it publishes is here.
    vi.stubEnv('TESTCONTAINERS_HOST_OVERRIDE', '127.0.0.1');
    const files = [COMPOSE_FILE, path.join(this.folder, 'gateway.yml')];
    this.#started = await new DockerComposeEnvironment(ROOT, files)
      .withProjectName(PROJECT)
      .withEnvironment(this.env)
      // Nothing can be pulled that would clean up behind us, and close() does.
      .withAutoCleanup(false)
      .withClientOptions({ commandOptions: ['--wait'] })
      .withDefaultWaitStrategy(Wait.forHealthCheck())
      .withStartupTimeout(START_MS_MAX)
      .up();
  }

  /** `docker compose down`; volumes stay. */
  async down(): Promise<void> {
    await this.#started?.down({ removeVolumes: false, timeout: 30_000 });
    this.#started = null;
  }

  async compose(...args: readonly string[]): Promise<string> {
    const files = ['-f', COMPOSE_FILE, '-f', path.join(this.folder, 'gateway.yml')];
    return await docker(this.#command, 'compose', '--project-name', PROJECT, ...files, ...args);
  }

  async restart(service: string): Promise<void> {
    const before = await this.#state(service);
    await this.compose('restart', service);
    await this.#healthyAgain(service, before.startedAt);
  }

  /** Its first program is killed from outside, as by a kernel without memory; the daemon starts it again. */
  async kill(service: string): Promise<void> {
    const { startedAt, pid } = await this.#state(service);
    const kill = ['--entrypoint', '/bin/sh', MACHINE_BASE, '-c', `kill -9 ${pid}`];
    await docker(
      this.#command,
      'run',
      '--rm',
      '--pid',
      'host',
      '--user',
      '0:0',
      '--network',
      'none',
      ...kill,
    );
    await this.#healthyAgain(service, startedAt);
  }

  async #healthyAgain(service: string, earlier: string): Promise<void> {
    await expect
      .poll(async () => (await this.#state(service, earlier)).health, {
        timeout: HEALTHY_MS_MAX,
        interval: 500,
      })
      .toBe('healthy');
  }

  /** `health` of one that has not started since `earlier` is `earlier`. */
  async #state(service: string, earlier = ''): Promise<{ startedAt: string; pid: number; health: string }> {
    const id = (await this.compose('ps', '--all', '--quiet', service)).trim();
    const format = '{{.State.StartedAt}} {{.State.Pid}} {{.State.Health.Status}}';
    const [startedAt = '', pid = '0', health = ''] = (
      await docker(this.#command, 'inspect', '--format', format, id)
    )
      .trim()
      .split(' ');
    return { startedAt, pid: Number(pid), health: startedAt === earlier ? 'earlier' : health };
  }

  /** Containers of the project, ended ones too. */
  async containers(): Promise<readonly string[]> {
    const filter = `label=com.docker.compose.project=${PROJECT}`;
    const said = await docker(this.#command, 'ps', '--all', '--filter', filter, '--format', '{{.Names}}');
    return said.split('\n').filter((name) => name !== '');
  }

  /** What the gateway wrote down for its bill. */
  ledger(): readonly LedgerRow[] {
    return rowsOf(path.join(this.folder, 'ledger/spend.jsonl'));
  }

  /** With its volumes and files, whatever state it is in. */
  async close(): Promise<void> {
    await this.compose('down', '--volumes', '--timeout', '5').catch(() => '');
    vi.unstubAllEnvs();
    removeDir(this.folder);
  }
}
