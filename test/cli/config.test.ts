/** The deployment: precedence, places of problems, conversion, masking, and its one table of settings. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { deploymentJsonSchema } from '../../host/config/schema/deployment-json-schema.ts';
import { explainDeployment } from '../../host/config/explain-deployment.ts';
import { allKeyPaths } from '../../host/config/schema/key-paths.ts';
import { loadDeployment } from '../../host/config/load-deployment.ts';
import { printProblem } from '../../host/config/problem.ts';
import { SETTINGS } from '../../host/config/settings.ts';
import { tempDir } from '../helpers/temp-dir.ts';

async function load(text: string | null, env: Record<string, string> = {}) {
  const cwd = tempDir();
  if (text !== null) writeFileSync(path.join(cwd, 'parley.yaml'), text);
  return { cwd, ...(await loadDeployment({ path: null, cwd, env })) };
}

const problemsOf = async (text: string, env: Record<string, string> = {}) =>
  (await load(text, env)).problems.map((problem) => printProblem(problem).trimEnd());

describe('loadDeployment()', () => {
  it('needs no file: every value has a default', async () => {
    const { config, problems, cwd } = await load(null);
    expect(problems).toEqual([]);
    expect(config).toEqual({
      deployment: {
        limits: { idleTimeMs: 1_200_000, deletionTimeMs: 864_000_000 },
        capacity: { installationMax: 100, userMax: 10, conversationsPerSandboxMax: 20 },
        warmPool: { size: 0, maxAgeMs: 21_600_000, spec: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
        onFull: 'refuse',
        grouping: 'NO_GROUPING',
        gitAuthor: { name: 'Parley', email: 'parley@localhost' },
        vendor: 'proxyvendor',
        iterationsMax: 500,
        forwardsHeaders: false,
        pollMs: 5_000,
      },
      store: { kind: 'sqlite' },
      bucket: null,
      engine: {
        kind: 'embedded',
        temporal: {
          address: null,
          namespace: 'default',
          queue: 'parley',
          tls: null,
          apiKey: null,
          slots: { sandbox: 8, agent: 64, bookkeeping: 16, watch: 64 },
          eventsMax: 2_000,
          metrics: null,
          versioning: null,
        },
        otlpEndpoint: null,
      },
      agent: { kind: 'reference', python: 'python3' },
      sharedFolders: [],
      dataDir: path.join(cwd, '.parley'),
      resultsDir: path.join(cwd, 'out'),
      baseDir: cwd,
      runtimeKind: 'process',
      isolation: 'auto',
      docker: { socket: '/var/run/docker.sock', image: 'host' },
      kubernetes: {
        namespace: 'parley-sandboxes',
        installation: 'parley',
        kubeconfig: null,
        context: null,
        image: '',
        pullSecret: null,
        storageClass: null,
        runtimeClass: null,
        podSecurity: 'baseline',
        service: 'parley-routes',
        listen: '0.0.0.0',
        memoryRequestBytes: 512 * 1_024 ** 2,
        cpuRequest: 0.25,
      },
      sandboxLimits: {
        memoryBytes: 4_096 * 1_024 ** 2,
        processes: 512,
        cpus: null,
        fileBytes: 4_096 * 1_024 ** 2,
        workspaceBytes: 10_240 * 1_024 ** 2,
      },
      egressAllow: [],
      egressCa: null,
      codeHosts: {},
      codeHostTokens: {},
      proxyConfigRaw: undefined,
      proxyPort: null,
      gatewayExport: null,
      host: {
        name: null,
        capacity: null,
        labels: {},
        leaseMs: 60_000,
        lostAfterMs: 300_000,
        strategy: 'spread',
        relay: null,
      },
      configPath: null,
      reading: {
        revision: createHash('sha256').update('').digest('hex'),
        values: expect.any(Array) as unknown[],
      },
    });
  });

  it('reads the bounds of sandboxes and the hosts they may reach', async () => {
    const text = [
      'runtime:',
      '  limits: { memory_mb: 512, processes: 0, cpu_percent: 150 }',
      '  egress: { allow: [code_hosts, "*.Example.org", "cache.test:8443", "*.example.org"] }',
      'code_hosts:',
      '  a: { url: "https://git.test:8443/{name}.git" }',
      '  b: { url: "file:repos/{name}.git" }',
    ].join('\n');
    const { config, problems } = await load(`${text}\n`, { PARLEY_SANDBOX_DISK_MB: '0' });
    expect(problems).toEqual([]);
    expect(config?.sandboxLimits).toMatchObject({
      memoryBytes: 512 * 1_024 ** 2,
      processes: null,
      cpus: 1.5,
      workspaceBytes: null,
    });
    expect(config?.egressAllow).toEqual(['git.test:8443', '*.example.org', 'cache.test:8443']);
  });

  it('reads the authorities of own hosts, and refuses what holds none', async () => {
    const read = async (text: string) => load(`runtime:\n  ${text}\n`);
    const missing = await read('egress: { ca: none.pem }');
    expect(missing.problems).toMatchObject([
      { line: 2, message: expect.stringContaining('"none.pem" is no file with certificates') },
    ]);
    const pods = await read(
      'egress: { ca: none.pem }\n  kind: kubernetes\n  kubernetes: { image: "a@sha256:' +
        'a'.repeat(64) +
        '" }',
    );
    expect(pods.problems).toMatchObject([
      { message: expect.stringContaining('their image says which authorities') },
    ]);
  });

  it('knows sandboxes of the warm pool by what they are booted with', async () => {
    const poolOf = async (text: string) =>
      (await load(`warm_pool: { size: 3, max_age: 60 }\n${text}`)).config;
    const plain = (await poolOf(''))?.deployment.warmPool;
    expect(plain).toMatchObject({ size: 3, maxAgeMs: 60_000 });
    const specOf = async (text: string) => (await poolOf(text))?.deployment.warmPool?.spec;
    expect(await specOf('limits: { idle_time: 60 }\nagent: { iterations_max: 7 }\n')).toBe(plain?.spec);
    const others = [
      'runtime: { isolation: none }\n',
      'runtime: { limits: { memory_mb: 64 } }\n',
      'runtime: { egress: { allow: [example.org] } }\n',
      'agent: { kind: openhands }\n',
    ];
    const specs = await Promise.all(others.map(specOf));
    expect(new Set([plain?.spec, ...specs]).size).toBe(others.length + 1);
  });

  it('refuses a warm pool that would leave no slot to anybody', async () => {
    expect(await problemsOf('capacity: { sandboxes: 3 }\nwarm_pool: { size: 2 }\n')).toEqual([]);
    const [problem] = await problemsOf('capacity: { sandboxes: 3 }\nwarm_pool: { size: 3 }\n');
    expect(problem).toContain(
      'parley.yaml:2:20: error: Cannot keep 3 sandboxes warm: capacity.sandboxes is 3',
    );
    expect(await problemsOf('warm_pool: { max_age: 36001 }\n')).toHaveLength(1);
  });

  it('takes the environment before the file, and the file before the default', async () => {
    const text = 'limits: { idle_time: 60, deletion_time: 0 }\nstore: { path: data }\n';
    const { config, values, cwd } = await load(text, { PARLEY_IDLE_TIME: '5', PARLEY_RESULTS_DIR: 'res' });
    expect(config?.deployment.limits).toEqual({ idleTimeMs: 5_000, deletionTimeMs: null });
    expect(config?.dataDir).toBe(path.join(cwd, 'data'));
    expect(config?.resultsDir).toBe(path.join(cwd, 'res'));
    const origins = Object.fromEntries(values.map(({ path: name, origin }) => [name, origin]));
    expect(origins['limits.idle_time']).toBe('env PARLEY_IDLE_TIME');
    expect(origins['limits.deletion_time']).toBe('parley.yaml:1');
    expect(origins['store.path']).toBe('parley.yaml:2');
    expect(origins['proxy.vendor']).toBe('default');
  });

  it('finds the file upward, and paths in it are relative to it', async () => {
    const root = tempDir();
    const cwd = path.join(root, 'a', 'b');
    mkdirSync(cwd, { recursive: true });
    writeFileSync(
      path.join(root, 'parley.yaml'),
      "store: { path: data }\ncode_hosts: { local: { url: 'file:repos/{name}.git' } }\n",
    );
    const { config } = await loadDeployment({ path: null, cwd, env: {} });
    expect(config?.dataDir).toBe(path.join(root, 'data'));
    expect(config?.codeHosts['local']?.url).toBe(`file:${path.join(root, 'repos/{name}.git')}`);
    expect(config?.configPath).toBe(path.join(root, 'parley.yaml'));
  });

  it('says what is wrong with its place and a remedy', async () => {
    expect(await problemsOf('limits:\n  idel_time: 60\n')).toEqual([
      'parley.yaml:2:3: error: unknown key "idel_time" under "limits"\n      = did you mean "idle_time"?',
    ]);
    expect(await problemsOf('idle_time: 60\n')).toEqual([
      'parley.yaml:1:1: error: unknown key "idle_time" at the top level\n      = write it as "limits.idle_time"',
    ]);
    expect(await problemsOf('limits: { idle_time: soon }\n')).toEqual([
      'parley.yaml:1:22: error: "limits.idle_time" must be a number, not "soon"',
    ]);
    expect(await problemsOf('runtime: { isolation: namespace }\n')).toEqual([
      'parley.yaml:1:23: error: "runtime.isolation" cannot be "namespace"\n      = did you mean "namespaces"?',
    ]);
    expect(await problemsOf('capacity:\n\tsandboxes: 3\n')).toEqual([
      'parley.yaml:2:1: error: a tab indents this line\n      = indent with spaces: YAML gives a tab no width',
    ]);
  });

  it('knows no key for the length of a session', async () => {
    const [problem] = await problemsOf('limits: { session_hours: 24 }\n');
    expect(problem).toContain('a session ends after 12 hours; no setting changes that (D10)');
  });

  it('refuses a bad variable, and names it', async () => {
    expect(await problemsOf('', { PARLEY_ISOLATION: 'nome', PARLEY_PROXY_PORT: '99999' })).toEqual([
      'environment PARLEY_ISOLATION: error: "runtime.isolation" cannot be "nome"\n      = did you mean "none"?',
      'environment PARLEY_PROXY_PORT: error: "proxy.port" must be at most 65535',
    ]);
  });

  it('takes tokens and keys by reference only, and never repeats a value', async () => {
    const text =
      "code_hosts: { github: { url: 'https://example.com/{name}.git', token: ghp_secretsecret } }\n";
    const [problem] = await problemsOf(text);
    expect(problem).toContain('the value of "code_hosts.github.token" does not belong in a file (D20)');
    expect(problem).not.toContain('ghp_secretsecret');
    const reference = text.replace('ghp_secretsecret', 'os.environ/HOST_TOKEN');
    expect((await load(reference, { HOST_TOKEN: 'abc' })).config?.codeHostTokens).toEqual({ github: 'abc' });
    expect(await problemsOf(reference)).toEqual([
      'parley.yaml:1:71: error: Cannot use code host "github": environment variable "HOST_TOKEN" is not set\n      = set HOST_TOKEN, or remove the token',
    ]);
  });

  it('checks code hosts with the code that uses them', async () => {
    expect(await problemsOf("code_hosts: { github: { url: 'ftp://x/{name}' } }\n")).toEqual([
      'parley.yaml:1:30: error: Cannot use code host "github": its url is neither https:, http: nor file:',
    ]);
    const two =
      "code_hosts:\n  a: { url: 'file:x/{name}', default: true }\n  b: { url: 'file:y/{name}', default: true }\n";
    expect((await problemsOf(two))[0]).toContain('parley.yaml:3:39: error: Cannot use code hosts: "a", "b"');
  });

  it('reads which agent works, by the name of a preset or by its command', async () => {
    const preset = await load("agent: { kind: acp, use: opencode, version: '1.18' }\n");
    expect(preset.config?.agent).toEqual({ kind: 'reference', python: 'python3' });
    expect(preset.config?.deployment.agent).toMatchObject({
      ...{ name: 'opencode', command: ['opencode', 'acp'], mode: null, version: '1.18' },
    });
    const own = await load('agent: { kind: acp, command: [mine, --acp], environment: { LEVEL: high } }\n');
    expect(own.config?.deployment.agent).toEqual({
      ...{
        name: 'acp',
        command: ['mine', '--acp'],
        environment: { LEVEL: 'high' },
        mode: null,
        version: null,
      },
    });
    const openhands = await load('agent: { kind: openhands, python: /opt/python }\n');
    expect(openhands.config?.agent).toEqual({ kind: 'openhands', python: '/opt/python' });
    expect(openhands.config?.deployment.agent ?? null).toBeNull();
  });

  it('refuses an agent without a name, and one that nobody knows', async () => {
    const [unnamed] = await problemsOf('agent: { kind: acp }\n');
    expect(unnamed).toContain('Cannot start agents: no agent is named');
    const [unknown] = await problemsOf('agent: { kind: acp, use: opencod }\n');
    expect(unknown).toContain('Cannot start agents: "opencod" is no preset');
    expect(unknown).toContain('write opencode, claude-code');
  });

  it('counts an export whose address is not set as not configured', async () => {
    const text =
      'gateway: { export: { url: os.environ/EXPORT_URL, key: os.environ/EXPORT_KEY, format: csv } }\n';
    const absent = await load(text);
    expect(absent.config?.gatewayExport).toBeNull();
    expect(absent.problems).toEqual([]);
    const env = { EXPORT_URL: 'http://127.0.0.1:1/spend', EXPORT_KEY: 'k' };
    expect((await load(text, env)).config?.gatewayExport).toEqual({
      url: 'http://127.0.0.1:1/spend',
      apiKey: 'k',
      format: 'csv',
    });
    expect(await problemsOf(text, { EXPORT_URL: 'nowhere' })).toHaveLength(2);
  });

  it("puts the proxy's own findings at their place, and keeps the deployment", async () => {
    const text = [
      'proxy_config:',
      '  model_list:',
      '    - model_name: coder',
      '      proxyvendor_params:',
      '        model: openai/x',
      '        api_base: os.environ/BASE_URL',
      '        api_key: os.environ/BASE_KEY',
      '',
    ].join('\n');
    const { config, problems } = await load(text, { BASE_KEY: 'k' });
    expect(config?.proxyConfigRaw).toMatchObject({ model_list: [{ model_name: 'coder' }] });
    expect(problems).toMatchObject([
      { area: 'proxy', severity: 'error', line: 6, column: 19, remedy: 'set BASE_URL' },
    ]);
    const good = await load(text, { BASE_KEY: 'k', BASE_URL: 'http://127.0.0.1:9/v1' });
    expect(good.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it('says that a named file is missing', async () => {
    const { config, problems } = await loadDeployment({ path: 'no.yaml', cwd: tempDir(), env: {} });
    expect(config).toBeNull();
    expect(problems[0]?.message).toBe('Cannot read the configuration "no.yaml": there is no such file');
  });
});

describe('explainDeployment()', () => {
  it('shows every value with its origin, and no secret', async () => {
    const text = [
      'proxy_config:',
      '  model_list:',
      '    - model_name: coder',
      '      proxyvendor_params: { model: openai/x, api_base: "http://127.0.0.1:9/v1", api_key: sk-planted-0123456789,',
      "        input_cost_per_token: '0.000001' }",
      '',
    ].join('\n');
    const loaded = await load(text);
    const lines = explainDeployment(loaded, {});
    expect(JSON.stringify(lines)).not.toContain('sk-planted');
    const prefix = 'proxy_config.model_list[0].proxyvendor_params';
    expect(lines).toContainEqual({ path: `${prefix}.api_key`, value: '(hidden)', origin: 'parley.yaml:4' });
    expect(lines).toContainEqual({
      path: `${prefix}.input_cost_per_token`,
      value: '0.000001',
      origin: 'parley.yaml:5',
    });
  });
});

describe('settings', () => {
  it('are the single values of the schema, all of them', () => {
    const open =
      /^(code_hosts|proxy_config|gateway|runtime\.(egress\.allow|shared_folders)|store\.(tls|url|blobs)|engine\.(tls|api_key)|agent\.(command|environment)|host\.labels)/;
    const keys = allKeyPaths().filter((key) => !open.test(key));
    const leaves = keys.filter((key) => !keys.some((other) => other.startsWith(`${key}.`)));
    expect(SETTINGS.map((setting) => setting.path).sort()).toEqual(leaves.sort());
    expect(new Set(SETTINGS.map((setting) => setting.env)).size).toBe(SETTINGS.length);
  });

  it('have a JSON Schema that accepts what is accepted', () => {
    const accepts = new Ajv({ strict: false }).compile(deploymentJsonSchema());
    expect(accepts({ limits: { idle_time: 5 }, code_hosts: { a: { url: 'x' } } })).toBe(true);
    expect(accepts({ limits: { idel_time: 5 } })).toBe(false);
  });
});
