/**
 * A real Agent Server on a unix socket in a folder of its own, and a client for it.
 * Owns set-up, calls and waiting; asserts nothing.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';

import { expect, onTestFinished } from 'vitest';

import type { AgentServerConfig } from '../../agent/config.ts';
import { startAgentServer } from '../../agent/serve/server.ts';
import type { AgentServer } from '../../agent/serve/server.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startOpenAiStub } from './openai-stub.ts';
import type { OpenAiStub } from './openai-stub.ts';

export const SESSION_KEY = 'session-key-of-the-test';
export const LLM_KEY = 'llm-key-of-the-test';
/** How long a condition is waited for: a loaded machine takes its time. */
export const PATIENT = { timeout: 20_000, interval: 20 };
export const CONVERSATION_ID = '0b1f0a5e-2f51-4f39-9f35-1c0f0e8f1a01';

export interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly body: T;
  readonly bytes: Buffer;
  /** A header of the answer by its name in lower case. */
  header(name: string): string | null;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly raw?: Buffer;
}

export interface EventView {
  readonly id: string;
  readonly timestamp: string;
  readonly kind: string;
  readonly source: string;
  readonly [field: string]: unknown;
}

/** A repository with one commit of `README.md` and `src/app.txt`; returns the commit. */
export function makeRepository(folder: string): string {
  mkdirSync(join(folder, 'src'), { recursive: true });
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'config', 'user.name', 'Test');
  git(folder, 'config', 'user.email', 'test@example.org');
  execFileSync('bash', ['-c', 'echo "# Sample" > README.md; printf "one\\ntwo\\nthree\\n" > src/app.txt'], {
    cwd: folder,
  });
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '-m', 'first');
  return git(folder, 'rev-parse', 'HEAD');
}

export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
}

/** One HTTP call over a unix socket; JSON answers are parsed. */
export async function callSocket<T = Record<string, unknown>>(
  socketPath: string,
  route: string,
  options: CallOptions = {},
): Promise<Answer<T>> {
  const [method = 'GET', path = '/'] = route.split(' ');
  const body = options.raw ?? (options.json === undefined ? null : Buffer.from(JSON.stringify(options.json)));
  return await new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        socketPath,
        method,
        path,
        // A connection kept from before a restart fails the call after it.
        agent: false,
        headers: {
          'x-session-api-key': SESSION_KEY,
          ...(options.json === undefined ? {} : { 'content-type': 'application/json' }),
          ...(body === null ? {} : { 'content-length': String(body.length) }),
          ...options.headers,
        },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const isJson = String(incoming.headers['content-type']).includes('json');
          resolve({
            status: incoming.statusCode ?? 0,
            body: (isJson ? JSON.parse(bytes.toString()) : null) as T,
            bytes,
            header: (name) => [incoming.headers[name]].flat()[0] ?? null,
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body ?? undefined);
  });
}

export class Harness {
  readonly folder = tempDir();
  readonly workspace = join(this.folder, 'workspace');
  readonly conversationsDir = join(this.folder, 'conversations');
  readonly socketPath = join(this.folder, 'agent.sock');
  readonly logLines: string[] = [];
  readonly llm: OpenAiStub;
  readonly #changes: Partial<AgentServerConfig>;
  #server: AgentServer | null = null;

  private constructor(llm: OpenAiStub, changes: Partial<AgentServerConfig>) {
    this.llm = llm;
    this.#changes = changes;
    mkdirSync(this.workspace);
  }

  static async start(changes: Partial<AgentServerConfig> = {}): Promise<Harness> {
    const harness = new Harness(await startOpenAiStub(), changes);
    onTestFinished(async () => {
      await harness.stop();
      await harness.llm.close();
    });
    await harness.startServer();
    return harness;
  }

  async startServer(): Promise<void> {
    const config: AgentServerConfig = {
      listen: { kind: 'socket', path: this.socketPath },
      sessionKey: SESSION_KEY,
      conversationsDir: this.conversationsDir,
      workspaceDir: this.workspace,
      pluginsDir: join(this.conversationsDir, '.plugins'),
      webhook: null,
      ...this.#changes,
    };
    this.#server = await startAgentServer(config, { writeLog: (line) => this.logLines.push(line) });
  }

  /** `unix:/path` or `http://host:port`. */
  get address(): string {
    return this.#server?.address ?? '';
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  call<T = Record<string, unknown>>(route: string, options: CallOptions = {}): Promise<Answer<T>> {
    return callSocket<T>(this.socketPath, route, options);
  }

  /** The body of a start request; `changes` replace its fields, `llm` those of the model. */
  startBody(
    changes: Record<string, unknown> = {},
    llm: Record<string, unknown> = {},
  ): Record<string, unknown> {
    return {
      conversation_id: CONVERSATION_ID,
      workspace: { kind: 'LocalWorkspace', working_dir: this.workspace },
      agent: {
        kind: 'Agent',
        llm: { model: 'openai/test-model', api_key: LLM_KEY, base_url: this.llm.baseUrl, ...llm },
        tools: [{ name: 'terminal' }, { name: 'file_editor' }, { name: 'task_tracker' }],
      },
      ...changes,
    };
  }

  /** Starts a conversation on this message and lets it run. */
  async run(
    text: string,
    changes: Record<string, unknown> = {},
    llm: Record<string, unknown> = {},
  ): Promise<Answer> {
    const initial = { role: 'user', content: [{ type: 'text', text }] };
    return await this.call('POST /api/conversations', {
      json: this.startBody({ initial_message: initial, ...changes }, llm),
    });
  }

  /** A call under the test's conversation. */
  at<T = Record<string, unknown>>(
    route: string,
    json?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const [method, path = ''] = route.split(' ');
    return this.call<T>(`${method} /api/conversations/${CONVERSATION_ID}${path}`, {
      headers,
      ...(json === undefined ? {} : { json }),
    });
  }

  /** Waits until the conversation has the status. */
  async reaches(status: string): Promise<Record<string, unknown>> {
    let info: Record<string, unknown> = {};
    await expect
      .poll(
        async () => {
          info = (await this.at('GET ')).body;
          return info['execution_status'];
        },
        { timeout: 20_000, interval: 20 },
      )
      .toBe(status);
    return info;
  }

  /** All events, over all pages. */
  async events(query = ''): Promise<EventView[]> {
    const events: EventView[] = [];
    let pageId: string | null = '';
    while (pageId !== null) {
      const page: Answer<{ items: EventView[]; next_page_id: string | null }> = await this.at(
        `GET /events/search?limit=7${query}${pageId === '' ? '' : `&page_id=${pageId}`}`,
      );
      events.push(...page.body.items);
      pageId = page.body.next_page_id;
    }
    return events;
  }

  async eventsOf(kind: string): Promise<EventView[]> {
    return await this.events(`&kind=${kind}`);
  }
}

export function userMessage(text: string, run: boolean): Record<string, unknown> {
  return { role: 'user', content: [{ type: 'text', text }], run };
}
