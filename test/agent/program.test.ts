/** The program as it is shipped: one file, started as a process, configured by its environment. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { build } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';

import { endProcess } from '../helpers/end-process.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { CONVERSATION_ID, SESSION_KEY, callSocket } from './harness.ts';
import { reply, startOpenAiStub, toolCalls } from './openai-stub.ts';

interface Program {
  readonly child: ChildProcess;
  readonly firstLine: Promise<string>;
  readonly exitCode: Promise<number | null>;
}

async function bundle(folder: string): Promise<string> {
  const outfile = join(folder, 'agent-server.cjs');
  const entry = join(import.meta.dirname, '../../agent/main.ts');
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    logLevel: 'error',
  });
  return outfile;
}

function startProgram(file: string, folder: string): Program {
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      PARLEY_AGENT_SOCKET: join(folder, 'agent.sock'),
      OH_SESSION_API_KEYS_0: SESSION_KEY,
      OH_CONVERSATIONS_PATH: join(folder, 'conversations'),
      PARLEY_WORKSPACE_DIR: join(folder, 'workspace'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.resume();
  onTestFinished(() => endProcess(child));
  const lines = createInterface({ input: child.stdout });
  return {
    child,
    firstLine: once(lines, 'line').then(([line]) => String(line)),
    exitCode: once(child, 'exit').then(([code]) => code as number | null),
  };
}

describe('the bundled program', () => {
  it('starts alone, survives being killed in the middle of a run, and stops on SIGTERM', async () => {
    const folder = tempDir();
    mkdirSync(join(folder, 'workspace'));
    const file = await bundle(folder);
    const llm = await startOpenAiStub();
    onTestFinished(() => llm.close());
    const socket = join(folder, 'agent.sock');
    const at = `/api/conversations/${CONVERSATION_ID}`;
    const status = async (): Promise<unknown> =>
      (await callSocket(socket, `GET ${at}`)).body['execution_status'];
    const start = {
      conversation_id: CONVERSATION_ID,
      workspace: { working_dir: join(folder, 'workspace') },
      agent: { llm: { model: 'm', api_key: 'k-of-the-model', base_url: llm.baseUrl } },
      initial_message: { content: 'go' },
    };

    const first = startProgram(file, folder);
    expect(JSON.parse(await first.firstLine)).toEqual({ type: 'listening', address: `unix:${socket}` });
    llm.script([toolCalls(['terminal', { command: 'env > env.txt; touch began; sleep 60' }])]);
    expect((await callSocket(socket, 'POST /api/conversations', { json: start })).status).toBe(201);
    await expect.poll(() => existsSync(join(folder, 'workspace/began')), { timeout: 60_000 }).toBe(true);

    const second = startProgram(file, folder);
    expect(await second.exitCode).toBe(3);

    first.child.kill('SIGKILL');
    await first.exitCode;
    const third = startProgram(file, folder);
    await third.firstLine;
    expect(await status()).toBe('error');
    llm.script([
      toolCalls(['terminal', { command: 'grep -c -e OH_ -e PARLEY_ -e session-key env.txt' }]),
      reply('end'),
    ]);
    expect((await callSocket(socket, 'POST /api/conversations', { json: start })).status).toBe(200);
    await callSocket(socket, `POST ${at}/run`);
    await expect.poll(status, { timeout: 60_000 }).toBe('finished');
    const results = llm.requests.at(-1)?.body.messages.filter((message) => message.role === 'tool');
    expect(String(results?.at(-1)?.content)).toMatch(/^0\n/);

    third.child.kill('SIGTERM');
    expect(await third.exitCode).toBe(0);
    expect(existsSync(socket)).toBe(false);
  });
});
