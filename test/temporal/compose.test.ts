/**
 * temporal-compose.yml: what can be said of it without a container, and, where images can be pulled, that it comes up.
 * With images that are made on the spot it is started in test/images/. Owns the rules for such a file; what the services do is tested elsewhere.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { SERVER_VERSION, UI_VERSION } from '../../scripts/compose-tools.js';
import { loadSealKey } from '../../store/access/seal-key.ts';
import { missing } from '../helpers/requires.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const FILE = path.join(ROOT, 'temporal-compose.yml');
const text = readFileSync(FILE, 'utf8');
const run = promisify(execFile);

interface Service {
  readonly image?: string;
  readonly build?: { readonly dockerfile?: string };
  readonly restart?: string;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly network_mode?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition?: string }>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const compose = parse(text, { merge: true }) as Compose;
const services = Object.entries(compose.services);
const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
};
const OURS = `parley:${version}`;
const ours = services.filter(([, service]) => service.image === OURS);
/** A path of the host that is the same inside. */
const SAME_PATH = /^(\$\{[A-Z_]+:-\/[^}]+\}|\/[^:]+):\1$/;
/** It does its work and ends. */
const ends = ({ restart }: Service): boolean => restart === 'no';
const documented = ['configuration', 'proxy', 'temporal-payloads']
  .map((page) => readFileSync(path.join(ROOT, `docs/${page}.md`), 'utf8'))
  .join('\n');

describe('temporal-compose.yml', () => {
  it('asks for keys as they are taken', () => {
    expect(text).toContain('${PARLEY_SEAL_KEY:?set it to what openssl rand -base64 32 prints}');
    expect(() => loadSealKey({ env: Buffer.alloc(32, 7).toString('base64'), path: '' })).not.toThrow();
    // An API beyond loopback needs a key, and must not own what the worker has to own.
    expect(compose.services['api']?.environment).toHaveProperty('PARLEY_FIRST_API_KEY');
    expect(compose.services['api']?.command).toContain('--no-worker');
  });

  it('has the database, Temporal, its UI, and our three', () => {
    expect(services.map(([name]) => name).sort()).toEqual(
      ['api', 'postgresql', 'prepare', 'proxy', 'register', 'temporal', 'temporal-ui', 'worker'].sort(),
    );
  });

  it.each(services)('%s has an image pinned to an exact version', (_name, { image = '' }) => {
    expect(image).toMatch(/^[a-z0-9./-]+(?::\d+\.\d+(?:\.\d+)?[a-z0-9.-]*|@sha256:[0-9a-f]{64})$/);
    expect(image).not.toContain('latest');
  });

  it.each(services.filter(([, service]) => !ends(service)))(
    '%s has a check of its health',
    (_name, service) => {
      expect(service.healthcheck?.test?.[0]).toBe('CMD');
      // What has a colon in it is a mapping unless it is quoted, and no command then.
      for (const word of service.healthcheck?.test ?? []) expect(word).toBeTypeOf('string');
      expect(service.restart).toBe('unless-stopped');
    },
  );

  it.each(services)('%s waits for what it needs with a condition', (name, { depends_on: needs = {} }) => {
    // The database, and what makes folders without a network.
    if (!['postgresql', 'prepare'].includes(name)) expect(Object.keys(needs)).not.toEqual([]);
    for (const [other, { condition }] of Object.entries(needs)) {
      const target = compose.services[other];
      expect(target).toBeDefined();
      expect(condition).toBe(ends(target ?? {}) ? 'service_completed_successfully' : 'service_healthy');
    }
  });

  it.each(services)('%s names no secret in clear', (_name, { environment = {} }) => {
    for (const [name, value] of Object.entries(environment))
      if (/KEY|PASSWORD|PWD|SECRET|TOKEN/.test(name))
        expect(`${name}=${value}`).toMatch(/=\$\{[A-Z_]+(?::\?.+|:-)\}$/);
  });

  it.each(services)('%s is reached from this machine alone', (_name, { ports = [] }) => {
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it('has variables and volumes that exist', () => {
    for (const [name, { environment = {}, volumes = [] }] of services) {
      if (ours.some(([one]) => one === name && one !== 'prepare'))
        for (const variable of Object.keys(environment).filter((one) => !/^PARLEY_(GATEWAY|MODEL)/.test(one)))
          expect(documented).toContain(`\`${variable}\``);
      for (const volume of volumes) {
        const [source = ''] = volume.split(':');
        if (/^[a-z]/.test(source)) expect(Object.keys(compose.volumes)).toContain(source);
      }
    }
  });

  it('names the versions that are built for the test where nothing can be pulled', () => {
    expect(compose.services['temporal']?.image).toBe(`temporalio/auto-setup:${SERVER_VERSION.slice(1)}`);
    expect(compose.services['temporal-ui']?.image).toBe(`temporalio/ui:${UI_VERSION.slice(1)}`);
  });

  it.each(ours)('%s is our image, without rights, on a root that it cannot write to', (name, service) => {
    expect(service.build?.dockerfile).toBe('chart/images/parley/Containerfile');
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    if (name === 'prepare') expect(service).toMatchObject({ user: '0:0', network_mode: 'none' });
    else expect(service.user).toBe('10001:10001');
  });

  it('has what API and worker share under one path inside and outside', () => {
    const [api, worker] = ['api', 'worker'].map((name) => compose.services[name]);
    expect(api?.volumes).toEqual(worker?.volumes);
    const shared = worker?.volumes?.filter((volume) => SAME_PATH.test(volume)) ?? [];
    expect(shared).toHaveLength(1);
    const [outside = ''] = /^\$\{[^}]+\}/.exec(shared[0] ?? '') ?? [];
    for (const { environment = {} } of [api, worker].map((service) => service ?? {})) {
      expect(environment['PARLEY_RUNTIME']).toBe('docker');
      for (const variable of ['PARLEY_DATA_DIR', 'TMPDIR'])
        expect(environment[variable]).toContain(`${outside}/`);
    }
  });

  it.each(ours.filter(([name]) => name !== 'prepare'))(
    '%s runs a command that there is, with flags that it has',
    (_name, { command: words = [] }) => {
      const [group = '', subcommand = ''] = words.filter((word) => /^[a-z]+$/.test(word));
      const file = group === 'temporal' ? `cli/temporal/${subcommand}.ts` : `cli/commands/${group}.ts`;
      const source = readFileSync(path.join(ROOT, file), 'utf8');
      const shared = readFileSync(path.join(ROOT, 'cli/command-context.ts'), 'utf8');
      for (const flag of words.filter((word) => word.startsWith('--')))
        expect(source + shared).toContain(flag);
    },
  );
});

/** Where there is no Docker, or where it reaches no registry, the file is checked as text alone, and the title says why. */
describe('temporal-compose.yml with Docker', async () => {
  const env = {
    ...process.env,
    COMPOSE_PROJECT_NAME: `parley-test-${process.pid}`,
    POSTGRES_PASSWORD: 'made-up',
    PARLEY_SEAL_KEY: Buffer.alloc(32).toString('base64'),
    PARLEY_DOCKER_GROUP: '0',
    PARLEY_HOST_DIR: `/tmp/parley-compose-${process.pid}`,
    PARLEY_FIRST_API_KEY: `pa-${'0'.repeat(64)}`,
    PARLEY_GATEWAY_URL: 'http://127.0.0.1:9/v1',
    PARLEY_GATEWAY_KEY: 'made-up',
    PARLEY_MODEL: 'openai/made-up',
    PROXY_MASTER_KEY: 'sk-made-up',
  };
  const docker = (...args: readonly string[]) => run('docker', ['compose', '-f', FILE, ...args], { env });
  const refusal = async (): Promise<string | null> => {
    const absent = missing('docker');
    if (absent !== null) return absent;
    return await docker('pull', '--quiet', 'postgresql', 'temporal', 'temporal-ui').then(
      () => null,
      (error: unknown) => `images cannot be pulled here: ${String(error).slice(0, 200)}`,
    );
  };
  const reason = await refusal();

  if (reason !== null) {
    it(`is checked as text alone: ${reason}`, () => {
      const { errors, warnings } = parseDocument(text, { merge: true, strict: true, uniqueKeys: true });
      expect([...errors, ...warnings]).toEqual([]);
    });
    return;
  }
  it('comes up with Temporal healthy and registered', { timeout: 600_000 }, async () => {
    await docker('config', '--quiet');
    try {
      await docker('up', '--detach', '--wait', 'temporal', 'temporal-ui');
      const { stdout } = await docker('run', '--rm', 'register');
      expect(stdout).toContain('namespace parley');
    } finally {
      await docker('down', '--volumes');
    }
  });
});
