/**
 * The first batch without the engine: its repositories are the same every time, its files are valid, and what the
 * scripted model asks for, done with the agent's own tools, turns a failing check into a passing one.
 * The whole run is tested elsewhere; nothing here starts a sandbox.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { McpTools } from '../../agent/mcp/mcp-tools.ts';
import { splitArguments } from '../../agent/tools/tool.ts';
import { makeToolSet } from '../../agent/tools/tool-set.ts';
import { loadDeployment } from '../../host/config/load-deployment.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import { fillGaps, inJson } from '../../scripted-gateway/script/gap-text.ts';
import { parseScript } from '../../scripted-gateway/script/parse-script.ts';
import { price } from '../../scripted-gateway/call-routes.ts';
import type { AnswerTurn, GatewayScript, Turn, TurnScript } from '../../scripted-gateway/script/script.ts';
import { sha256 } from '../dsl/test-world.ts';
import { removeDir, tempDir } from '../helpers/temp-dir.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const EXAMPLE = path.join(ROOT, 'examples/first-batch');
const TOKEN = 'made-up-review-token';

type ReadText = (file: string) => string;
const readText: ReadText = (file) => readFileSync(file, 'utf8');
const inExample = (name: string): string => readText(path.join(EXAMPLE, name));

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', env: commandEnvironment() });
}

/** No configuration of this machine, and an identity as a deployment would give it. */
function commandEnvironment(): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    GIT_CONFIG_GLOBAL: os.devNull,
    GIT_CONFIG_NOSYSTEM: '1',
  };
}

function makeRepositories(folder: string): Record<string, string> {
  const args = [path.join(EXAMPLE, 'repositories.js'), folder];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Record<string, string>;
}

function compile() {
  return compileJob(
    { path: 'job.yaml', text: readFileSync(path.join(EXAMPLE, 'job.yaml')) },
    {
      sha256,
      models: ['coder'],
      readFile: (relative) => ({ text: inExample(relative) }),
      secretExists: () => true,
    },
  );
}

function readScript(read: ReadText = readText): GatewayScript {
  const { script, problems } = parseScript(
    inExample('gateway.yaml'),
    path.join(EXAMPLE, 'gateway.yaml'),
    read,
  );
  expect(problems).toEqual([]);
  if (script === null) throw new Error('the script has problems');
  return script;
}

const isAnswer = (turn: Turn): turn is AnswerTurn => turn.kind === 'answer';

interface Item {
  readonly key: string;
  readonly repository: string;
  readonly prompt: string;
  readonly verify: string;
}

const items: readonly Item[] = (compile().plan?.items ?? []).map((item) => ({
  key: item.key,
  repository: item.repository?.name ?? '',
  prompt: item.prompt,
  verify: item.verify?.command ?? '',
}));

function itemOf(key: string): Item {
  const item = items.find((one) => one.key === key);
  if (item === undefined) throw new Error(`the job has no conversation "${key}"`);
  return item;
}

let repositories = '';

beforeAll(() => {
  repositories = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-repositories-')));
  makeRepositories(repositories);
});

afterAll(() => removeDir(repositories));

/** A clone as a sandbox has it. */
function clone(item: Item, folder: string): string {
  const workingDir = path.join(folder, 'clone');
  git(folder, 'clone', '--quiet', `file://${repositories}/${item.repository}.git`, workingDir);
  git(workingDir, 'config', 'user.name', 'Coding Agent');
  git(workingDir, 'config', 'user.email', 'agent@example.com');
  return workingDir;
}

function verify(item: Item, workingDir: string): number | null {
  return spawnSync('bash', ['-c', item.verify], { cwd: workingDir, env: commandEnvironment() }).status;
}

function scriptOf(item: Item, script: GatewayScript): TurnScript {
  const found = script.scripts.find(({ contains }) => contains !== null && item.prompt.includes(contains));
  if (found === undefined) throw new Error(`no script answers "${item.key}"`);
  return found;
}

/** Plays every call of a conversation with the agent's tools; returns the observations' texts. */
async function play(item: Item, workingDir: string, script: GatewayScript): Promise<string[]> {
  const external = new McpTools({}, surroundings(workingDir));
  const tools = makeToolSet([], surroundings(workingDir), { events: [], external });
  const texts: string[] = [];
  try {
    const answers = scriptOf(item, script).turns.filter(isAnswer);
    for (const { tool: name, argumentsJson } of answers.flatMap(({ calls }) => calls)) {
      const text = fillGaps(argumentsJson, inJson(workingDir));
      const { own } = splitArguments(JSON.parse(text) as Record<string, unknown>);
      const tool = tools.get(name);
      if (tool === null) throw new Error(`there is no tool "${name}"`);
      const observation = await tool.run(tool.parse(own), new AbortController().signal);
      const seen = JSON.stringify(observation);
      expect(observation.is_error, seen).toBe(false);
      texts.push(seen);
    }
    return texts;
  } finally {
    tools.close();
  }
}

function surroundings(workingDir: string) {
  let count = 0;
  return {
    workingDir,
    secrets: () => ({ ...commandEnvironment(), REVIEW_TOKEN: TOKEN }),
    mask: (text: string) => text,
    nowMs: () => 0,
    uuid: () => `marker-${(count += 1)}`,
    growing: () => ({ push: () => undefined, skip: () => undefined }),
  };
}

/** What a collected patch holds: committed and other changes against the first commit. */
function patchOf(workingDir: string): string {
  git(workingDir, 'add', '--all');
  return git(workingDir, 'diff', '--cached', 'origin/main');
}

describe('the repositories of the first batch', () => {
  it('have the same commits whenever they are made', () => {
    const folder = tempDir();
    const commits = makeRepositories(path.join(folder, 'one'));
    expect(makeRepositories(path.join(folder, 'two'))).toEqual(commits);
    expect(makeRepositories(path.join(folder, 'one'))).toEqual(commits);
    expect(Object.keys(commits)).toEqual(['npm/commander', 'npm/ms', 'npm/yaml']);
    for (const [name, commit] of Object.entries(commits)) {
      expect(git(path.join(folder, 'one', `${name}.git`), 'rev-parse', 'main').trim()).toBe(commit);
    }
  });

  it('hold the published files as they are, licence included, and no package of others', () => {
    for (const { repository } of items) {
      const names = git(
        path.join(repositories, `${repository}.git`),
        'ls-tree',
        '-r',
        '--name-only',
        'main',
      ).split('\n');
      const installed = path.join(ROOT, 'node_modules', path.basename(repository));
      const licence = names.find((name) => /^licen[cs]e/i.test(name)) ?? '';
      for (const name of [licence, 'package.json']) {
        const text = git(path.join(repositories, `${repository}.git`), 'show', `main:${name}`);
        expect(text).toBe(readText(path.join(installed, name)));
      }
      expect(names.filter((name) => name.includes('node_modules'))).toEqual([]);
    }
  });

  it('are made anew when their sources are others', () => {
    const folder = tempDir();
    const commits = makeRepositories(folder);
    git(path.join(folder, 'npm/ms.git'), 'update-ref', '-d', 'refs/heads/main');
    expect(makeRepositories(folder)).toEqual(commits);
  });
});

describe('the files of the first batch', () => {
  it('compile to a plan without a warning', () => {
    const { plan, diagnostics } = compile();
    expect(diagnostics).toEqual([]);
    expect(plan?.items.map(({ key }) => key)).toEqual(['replace-substr', 'esm-entry', 'choice-suggestions']);
    expect(plan?.placement.strategy).toBe('ADD_TO_ANY');
    expect(plan?.items[0]?.secrets).toEqual({ REVIEW_TOKEN: 'reviewToken' });
  });

  it('give each conversation a script of its own that ends with finish', () => {
    const script = readScript();
    const names = items.map((item) => scriptOf(item, script).name);
    expect(new Set(names).size).toBe(3);
    for (const { turns } of script.scripts) {
      const last = turns.filter(isAnswer).at(-1);
      expect(last?.calls.map(({ tool }) => tool)).toEqual(['finish']);
      expect(turns.every((turn) => isAnswer(turn) && turn.usage !== null)).toBe(true);
    }
  });

  it('name on their page what the run costs', () => {
    const script = readScript();
    const model = script.models.get('acme/coder-1');
    const usages = script.scripts.flatMap(({ turns }) =>
      turns.filter(isAnswer).flatMap(({ usage }) => usage ?? []),
    );
    if (model === undefined) throw new Error('the model has no price');
    const nanoUsd = usages.reduce((sum, usage) => sum + price(usage, model), 0n);
    const page = readText(path.join(ROOT, 'docs/first-batch.md'));
    expect(page).toContain(`${usages.length} model calls`);
    expect(page).toContain(`0.${String(nanoUsd).padStart(9, '0')} USD`);
  });

  it('price calls in the deployment as the gateway does, and leave that to a real one', () => {
    const scripted = parse(inExample('parley.yaml')) as Deployment;
    const real = parse(inExample('real-gateway.yaml')) as Deployment;
    const params = scripted.proxy_config.model_list[0]?.proxyvendor_params ?? {};
    const { input_cost_per_token: input, output_cost_per_token: output, ...unpriced } = params;
    const model = readScript().models.get('acme/coder-1');
    expect(perMillion(input)).toBe(model?.inputNanoUsdPerMillion);
    expect(perMillion(output)).toBe(model?.outputNanoUsdPerMillion);
    expect(real.proxy_config.model_list[0]?.proxyvendor_params).toEqual({
      ...unpriced,
      cost_from_gateway: true,
    });
    const same = ({ proxy_config: _models, ...rest }: Deployment): unknown => rest;
    expect(same(real)).toEqual(same(scripted));
  });

  it.each(['parley.yaml', 'real-gateway.yaml'])('hold a deployment without a problem in %s', async (file) => {
    const env = {
      PARLEY_MODEL: 'openai/m',
      PARLEY_GATEWAY_URL: 'http://127.0.0.1:4010/v1',
      PARLEY_GATEWAY_KEY: 'k',
    };
    const { problems } = await loadDeployment({ path: file, cwd: EXAMPLE, env });
    expect(problems).toEqual([]);
  });
});

interface Deployment {
  readonly proxy_config: {
    readonly model_list: readonly { readonly proxyvendor_params: Readonly<Record<string, string>> }[];
  };
}

/** USD per token with ten decimals, as nano-USD per million tokens. */
function perMillion(text: string | undefined): bigint {
  const [, decimals = ''] = /^0\.(\d{10})$/.exec(text ?? '') ?? [];
  return BigInt(decimals) * 100_000n;
}

describe.each(items)('the conversation $key', (item) => {
  it('makes its failing check pass, with a patch that applies to the first commit', async () => {
    const folder = tempDir();
    const workingDir = clone(item, folder);
    expect(verify(item, workingDir)).toBe(1);
    const observations = await play(item, workingDir, readScript());
    expect(verify(item, workingDir)).toBe(0);
    expect(observations.join('')).not.toContain(TOKEN);
    const patch = patchOf(workingDir);
    expect(patch).not.toContain(TOKEN);
    const fresh = clone(item, tempDir());
    execFileSync('git', ['apply', '--check', '-'], { cwd: fresh, input: patch, env: commandEnvironment() });
  });
});

describe('the files that the model writes', () => {
  it('are in the patch as they are', async () => {
    const item = itemOf('esm-entry');
    const workingDir = clone(item, tempDir());
    const read: ReadText = (file) => readText(file).replace('Parse a duration', 'Read a duration');
    await play(item, workingDir, readScript(read));
    expect(patchOf(workingDir)).toContain('+ * Read a duration such as "1.5h"');
    expect(verify(item, workingDir)).toBe(0);
  });

  it('fail the check when they are not good enough', async () => {
    const item = itemOf('replace-substr');
    const workingDir = clone(item, tempDir());
    const read: ReadText = (file) => readText(file).replace("['dist', 'browser']", "['dist']");
    await play(item, workingDir, readScript(read));
    expect(patchOf(workingDir)).not.toContain('browser/dist/parse/lexer.js');
    expect(verify(item, workingDir)).toBe(1);
  });
});
