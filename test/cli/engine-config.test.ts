/** The block `engine`: values, certificates, keys by reference, and what is wrong at its place. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { explainDeployment } from '../../host/config/explain-deployment.ts';
import { loadDeployment } from '../../host/config/load-deployment.ts';
import { printProblem } from '../../host/config/problem.ts';
import { WORKER_SLOTS_DEFAULT } from '../../temporal/worker.ts';
import { EVENTS_MAX_DEFAULT } from '../../workflows/events-max.ts';
import { tempDir } from '../helpers/temp-dir.ts';

async function load(text: string, env: Record<string, string> = {}, files: readonly string[] = []) {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'parley.yaml'), text);
  for (const file of files) writeFileSync(path.join(cwd, file), `the text of ${file}`);
  return { cwd, ...(await loadDeployment({ path: null, cwd, env })) };
}

const problemsOf = async (...given: Parameters<typeof load>) =>
  (await load(...given)).problems.map((problem) => printProblem(problem).trimEnd());

const KEY = Buffer.alloc(32, 7).toString('base64');

describe('the block engine', () => {
  it('has the defaults of worker and driver', async () => {
    const { config } = await load('');
    expect(config?.engine.temporal.slots).toEqual(WORKER_SLOTS_DEFAULT);
    expect(config?.engine.temporal.eventsMax).toBe(EVENTS_MAX_DEFAULT);
  });

  it('takes every value of the file', async () => {
    const text = [
      "engine: { kind: temporal, address: 'temporal.example.com:7233', namespace: parley, task_queue: night,",
      '  slots: { sandbox: 2, watch: 9 }, events_max: 500, api_key: os.environ/CLOUD_KEY,',
      "  metrics: '[::1]:9464', versioning: { deployment: parley-eu, build_id: '2026.11' },",
      "  otlp_endpoint: 'http://collector:4318',",
      '  tls: { ca: ca.pem, cert: client.pem, key: client.key, server_name: frontend } }',
      '',
    ].join('\n');
    const { config } = await load(text, { CLOUD_KEY: 'k' }, ['ca.pem', 'client.pem', 'client.key']);
    expect(config?.engine).toEqual({
      kind: 'temporal',
      temporal: {
        address: 'temporal.example.com:7233',
        namespace: 'parley',
        queue: 'night',
        apiKey: 'k',
        slots: { sandbox: 2, agent: 64, bookkeeping: 16, watch: 9 },
        eventsMax: 500,
        metrics: { host: '::1', port: 9464 },
        versioning: { deployment: 'parley-eu', buildId: '2026.11' },
        tls: {
          rootCertificates: Buffer.from('the text of ca.pem'),
          serverName: 'frontend',
          client: {
            certificate: Buffer.from('the text of client.pem'),
            key: Buffer.from('the text of client.key'),
          },
        },
      },
      otlpEndpoint: 'http://collector:4318',
    });
  });

  it('takes the variables that every tool of Temporal reads before the file', async () => {
    const env = { PARLEY_ENGINE: 'temporal', TEMPORAL_ADDRESS: '[::1]:7233', TEMPORAL_NAMESPACE: 'other' };
    const { config, values } = await load("engine: { kind: embedded, address: 'a:1' }\n", env);
    expect(config?.engine).toMatchObject({
      kind: 'temporal',
      temporal: { address: '[::1]:7233', namespace: 'other' },
    });
    const origins = Object.fromEntries(values.map(({ path: name, origin }) => [name, origin]));
    expect(origins['engine.address']).toBe('env TEMPORAL_ADDRESS');
    expect(origins['engine.task_queue']).toBe('default');
  });

  it('takes an empty map as TLS with the authorities of the system', async () => {
    expect((await load('engine: { tls: {} }\n')).config?.engine.temporal.tls).toEqual({});
  });

  it('takes the key of the server from its own variable when the file names none', async () => {
    const env = { PARLEY_TEMPORAL_API_KEY: 'from-variable', OTHER: 'from-reference' };
    expect((await load('', env)).config?.engine.temporal.apiKey).toBe('from-variable');
    const named = await load('engine: { api_key: os.environ/OTHER }\n', env);
    expect(named.config?.engine.temporal.apiKey).toBe('from-reference');
  });

  it.each([
    [
      'engine: { kind: temporl }\n',
      'parley.yaml:1:17: error: "engine.kind" cannot be "temporl"\n      = did you mean "temporal"?',
    ],
    [
      "engine: { adress: 'a:1' }\n",
      'parley.yaml:1:11: error: unknown key "adress" under "engine"\n      = did you mean "address"?',
    ],
    [
      'engine: { address: temporal.example.com }\n',
      'parley.yaml:1:20: error: "engine.address" has the wrong form\n      = write HOST:PORT, such as 127.0.0.1:7233',
    ],
    [
      'engine: { task_queue: a b }\n',
      'parley.yaml:1:23: error: "engine.task_queue" has the wrong form\n      = use letters, digits, ".", "_" and "-"',
    ],
    [
      'engine: { metrics: localhost:9464 }\n',
      'parley.yaml:1:20: error: "engine.metrics" has the wrong form\n      = write a port, or an address and a port such as 127.0.0.1:9464',
    ],
    [
      "engine: { metrics: '1.2.3:9464' }\n",
      'parley.yaml:1:20: error: Cannot show metrics at "1.2.3:9464": it is no address to listen on\n      = write a port from 1 to 65535, or an IP address and a port such as 127.0.0.1:9464',
    ],
    [
      'engine: { versioning: { deployment: a.b } }\n',
      'parley.yaml:1:37: error: "engine.versioning.deployment" has the wrong form\n      = use letters, digits, "-" and "_"',
    ],
    [
      'engine: { versioning: { build_id: next } }\n',
      'parley.yaml:1:35: error: Cannot use build "next": no deployment is named that it is a build of\n      = set engine.versioning.deployment or PARLEY_DEPLOYMENT',
    ],
    [
      'engine: { otlp_endpoint: collector:4318 }\n',
      'parley.yaml:1:26: error: "engine.otlp_endpoint" has the wrong form\n      = write it as http://HOST:4318',
    ],
    ['engine: { events_max: 10 }\n', 'parley.yaml:1:23: error: "engine.events_max" must be at least 40'],
    ['engine: { slots: { agent: 0 } }\n', 'parley.yaml:1:27: error: "engine.slots.agent" must be at least 1'],
    [
      'engine: { tls: { ca: no.pem } }\n',
      'parley.yaml:1:22: error: Cannot read "engine.tls.ca": there is no file "no.pem" that can be read\n      = name a PEM file',
    ],
    [
      'engine: { tls: { cert: parley.yaml } }\n',
      'parley.yaml:1:24: error: Cannot use "engine.tls.cert" alone: a certificate and its key belong together\n      = write both, or leave both out',
    ],
    [
      'engine: { api_key: os.environ/NO_KEY }\n',
      'parley.yaml:1:20: error: Cannot use the key of the Temporal server: environment variable "NO_KEY" is not set\n      = set NO_KEY, or remove the key',
    ],
    [
      'engine: { session_timeout: 5 }\n',
      'parley.yaml:1:11: error: unknown key "session_timeout" under "engine"\n      = a session ends after 12 hours; no setting changes that (D10)',
    ],
  ])('refuses %s', async (text, problem) => {
    expect(await problemsOf(text)).toEqual([problem]);
  });

  it('refuses a key in the file without repeating it', async () => {
    const [problem, ...more] = await problemsOf('engine: { api_key: planted-key }\n');
    expect(more).toEqual([]);
    expect(problem).toContain(
      'parley.yaml:1:20: error: the value of "engine.api_key" does not belong in a file',
    );
    expect(problem).not.toContain('planted');
  });

  it('refuses variables that it cannot read, and names them', async () => {
    expect(await problemsOf('', { TEMPORAL_ADDRESS: 'nowhere' })).toEqual([
      'environment TEMPORAL_ADDRESS: error: "engine.address" has the wrong form\n      = write HOST:PORT, such as 127.0.0.1:7233',
    ]);
    expect(await problemsOf('', { PARLEY_METRICS: '0' })).toEqual([
      'environment PARLEY_METRICS: error: Cannot show metrics at "0": it is no address to listen on\n      = write a port from 1 to 65535, or an IP address and a port such as 127.0.0.1:9464',
    ]);
    expect(await problemsOf('', { PARLEY_BUILD_ID: 'next' })).toEqual([
      'environment PARLEY_BUILD_ID: error: Cannot use build "next": no deployment is named that it is a build of\n      = set engine.versioning.deployment or PARLEY_DEPLOYMENT',
    ]);
    const [problem, ...more] = await problemsOf('', { PARLEY_TEMPORAL_CODEC_KEYS: `k1:${KEY.slice(4)}` });
    expect(more).toEqual([]);
    expect(problem).toMatch(
      /^environment PARLEY_TEMPORAL_CODEC_KEYS: error: Cannot read .* entry 1 has a key/,
    );
    expect(problem).not.toContain(KEY.slice(4, 20));
  });

  it('is explained with origins, and without a secret', async () => {
    const text = 'engine:\n  tls: { ca: ca.pem }\n  api_key: os.environ/CLOUD_KEY\n  namespace: parley\n';
    const env = { CLOUD_KEY: 'planted-key', PARLEY_TEMPORAL_CODEC_KEYS: `k1:${KEY}` };
    const lines = explainDeployment(await load(text, env, ['ca.pem']), env);
    expect(lines).toContainEqual({ path: 'engine.address', value: 'none', origin: 'default' });
    expect(lines).toContainEqual({ path: 'engine.namespace', value: 'parley', origin: 'parley.yaml:4' });
    expect(lines).toContainEqual({ path: 'engine.tls.ca', value: 'ca.pem', origin: 'parley.yaml:2' });
    expect(lines).toContainEqual({
      path: 'engine.api_key',
      value: 'os.environ/CLOUD_KEY (set)',
      origin: 'parley.yaml:3',
    });
    expect(lines).toContainEqual({
      path: 'PARLEY_TEMPORAL_CODEC_KEYS',
      value: 'set',
      origin: 'env PARLEY_TEMPORAL_CODEC_KEYS',
    });
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`planted|${KEY.slice(0, 20)}`));
  });
});
