/** The OpenHands SDK, unmodified, against the reference agent: served directly, and through `parley serve`. */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { Harness, LLM_KEY, makeRepository, SESSION_KEY } from '../agent/harness.ts';
import { reply, startOpenAiStub, toolCalls } from '../agent/openai-stub.ts';
import type { ChatAnswer, ChatRequest, OpenAiStub } from '../agent/openai-stub.ts';
import { PARLEY } from '../cli/parley-program.ts';
import { endProcess } from '../helpers/end-process.ts';
import { requirePeerPython } from '../helpers/python-peers.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const MS_MAX = 600_000;
type Results = Readonly<Record<string, unknown>>;

/** What the model says to each of the scenarios of openhands_sdk.py. */
function answer({ body }: ChatRequest): ChatAnswer | Promise<ChatAnswer> {
  const text = JSON.stringify(body.messages);
  const steps = body.messages.filter(({ role }) => role === 'tool').length;
  if (text.includes('how far are you?')) return reply('half way');
  if (text.includes('be refused')) return { status: 401, json: { error: { message: 'no such key' } } };
  if (text.includes('take your time')) {
    if (!text.includes('interrupted')) return toolCalls(['terminal', { command: 'sleep 120', timeout: 120 }]);
    return toolCalls(['finish', { message: 'in time' }]);
  }
  if (text.includes('ask before you act')) {
    const isLast = text.includes('was accepted');
    return isLast ? reply('as you wish') : toolCalls(['terminal', { command: 'echo was"" accepted' }]);
  }
  const work = [
    toolCalls(['terminal', { command: 'echo "the token is $TOKEN"' }]),
    toolCalls(['think', { thought: 'hm' }]),
    toolCalls(['finish', { message: 'done' }]),
  ];
  return work[Math.min(steps, work.length - 1)] ?? reply('done');
}

async function stub(): Promise<OpenAiStub> {
  const llm = await startOpenAiStub();
  onTestFinished(() => llm.close());
  llm.script([answer], { forever: true });
  return llm;
}

/** Runs the scenarios whose part is given, as a program of its own. */
async function scenarios(given: object): Promise<Results> {
  const script = path.join(import.meta.dirname, 'openhands_sdk.py');
  const { stdout } = await promisify(execFile)(
    requirePeerPython('openhands'),
    [script, JSON.stringify({ llm_key: LLM_KEY, ...given })],
    {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: tempDir(),
        OPENHANDS_SUPPRESS_BANNER: '1',
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        PYTHONDONTWRITEBYTECODE: '1',
      },
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  return JSON.parse(stdout.split('\n').filter(Boolean).at(-1) ?? '{}') as Results;
}

const WORK = {
  command: [3, 'out', 'err'],
  files: [true, true, true],
  missing: 127,
  alive: true,
};
const FINISHED = {
  status: 'finished',
  kinds: expect.arrayContaining(['MessageEvent', 'ActionEvent', 'ObservationEvent']) as unknown,
  aside: 'half way',
  title: 'Renamed',
  tags: { team: 'blue' },
  hides: true,
  cost: true,
  attached: ['finished', true],
};

describeWith('openhands', 'the OpenHands SDK on the reference agent', () => {
  it(
    'works in the workspace, runs to FINISHED, confirms, interrupts, and hears of errors',
    async () => {
      const harness = await Harness.start({ listen: { kind: 'tcp', host: '127.0.0.1', port: 0 } });
      makeRepository(harness.workspace);
      const llm = await stub();
      const results = await scenarios({
        direct: {
          host: harness.address,
          key: SESSION_KEY,
          working_dir: harness.workspace,
          llm: llm.baseUrl,
        },
      });
      expect(results).toEqual({
        'direct.workspace': WORK,
        'direct.git': {
          changes: expect.arrayContaining([['UPDATED', 'README.md']]) as unknown,
          modified: 'changed\n',
        },
        'direct.finished': FINISHED,
        'direct.confirmed': {
          steps: ['waiting_for_confirmation', 'waiting_for_confirmation', 'finished', 'finished'],
          rejected: ['not this way'],
          policy: 'NeverConfirm',
          deleted: 404,
        },
        'direct.stopped': { steps: ['paused', 'finished'], interrupted: true },
        'direct.failed': { error: 'LLMAuthenticationError' },
      });
    },
    MS_MAX,
  );
});

interface Served {
  readonly url: string;
  readonly key: string;
}

/** `parley serve` in the dialect of the SDK, with one model. */
async function serve(folder: string, llm: OpenAiStub): Promise<Served> {
  const proxy = `proxy_config:
  model_list:
    - { model_name: default, proxyvendor_params: { model: openai/coder, api_base: '${llm.baseUrl}', api_key: os.environ/KEY } }\n`;
  writeFileSync(
    path.join(folder, 'parley.yaml'),
    `runtime: { isolation: none }\nlimits: { idle_time: 0 }\n${proxy}`,
  );
  const args = ['serve', '--config', 'parley.yaml', '--port', '0', '--data', 'data', '--json'];
  const child = spawn(process.execPath, [PARLEY, ...args, '--dialect', 'openhands'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, NO_COLOR: '1', KEY: LLM_KEY },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => endProcess(child, 'SIGTERM'));
  for await (const line of createInterface({ input: child.stdout })) {
    const record = JSON.parse(line) as { readonly type: string } & Served;
    if (record.type === 'serving') return record;
  }
  throw new Error('it ended before it served');
}

/** Where a client that polls stops. */
const AT_REST = new Set(['finished', 'error', 'stuck', 'waiting_for_confirmation']);

interface Started {
  readonly id: string;
  readonly agent_url: string | undefined;
  readonly session_api_key: string | undefined;
}

/** Starts a conversation as the documented flow of API clients does, and waits until it is there and at rest. */
async function started({ url, key }: Served): Promise<Started> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = async (route: string, body?: unknown): Promise<Record<string, string>[]> => {
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const said: unknown = await (
      await fetch(`${url}/api/v1/app-conversations${route}`, { headers, ...post })
    ).json();
    return [said].flat() as Record<string, string>[];
  };
  const [task] = await ask('', { initial_message: { content: [{ type: 'text', text: 'do the work' }] } });
  const first = await poll(
    () => ask(`/start-tasks?ids=${task?.['id']}`),
    ([row]) => row?.['status'] === 'READY',
  );
  const id = first[0]?.['app_conversation_id'] ?? '';
  const [row] = await poll(
    () => ask(`?ids=${id}`),
    ([found]) => AT_REST.has(found?.['execution_status'] ?? ''),
  );
  expect(row?.['execution_status']).toBe('finished');
  const agentUrl = row?.['conversation_url']?.replace(/\/api\/conversations\/.*$/, '');
  return { id, agent_url: agentUrl, session_api_key: row?.['session_api_key'] };
}

/** A sandbox outlives its server, so it is removed by intent. */
async function remove({ url, key }: Served, conversationId: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  await fetch(`${url}/api/v1/app-conversations/${conversationId}`, { method: 'DELETE', headers });
  const search = `${url}/api/v1/sandboxes/search`;
  await poll(
    async () => (await (await fetch(search, { headers })).json()) as { items: { status: string }[] },
    ({ items }) => items.every(({ status }) => status === 'MISSING'),
  );
}

async function poll<T>(ask: () => Promise<T>, fits: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask();
    if (fits(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describeWith('openhands', 'the OpenHands SDK through parley serve', () => {
  it(
    'creates, uses, resumes and deletes a sandbox, and joins a conversation that the API started',
    async () => {
      const folder = tempDir();
      mkdirSync(path.join(folder, 'data'));
      const llm = await stub();
      const served = await serve(folder, llm);
      const conversation = await started(served);
      const results = await scenarios({
        cloud: { ...served, conversation, working_dir: '/', llm: llm.baseUrl },
      });
      expect(results).toEqual({
        'cloud.workspace': WORK,
        'cloud.finished': FINISHED,
        'cloud.life': {
          steps: ['RUNNING', 'PAUSED', 'RUNNING', 'MISSING'],
          kept: '256',
          rotated: true,
          secrets: [],
        },
        'cloud.started': { status: 'finished' },
      });
      await remove(served, conversation.id);
    },
    MS_MAX,
  );
});
