/**
 * Where the hostile form of chaos takes place: a folder with a real service, the stand-in of a model vendor, and
 * sandboxes in which the Agent Server can lie.
 * Owns processes and their end, the calls of the API, and what can be measured of the service from outside.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { removeTree } from '../../runtimes/on-host/remove-tree.ts';
import { bundle } from '../../scripts/bundle.js';
import { end } from '../../scripts/own-process.ts';
import { residentMib } from '../proxy/process-cost.ts';
import { apiOf, recordOf, type Answer, type Ask } from '../service.ts';

const KEY = 'sk-hostile';
const APP = '/api/v1/app-conversations';
/** Small, so that attacks reach them soon. */
const LIMITS = { memory_mb: 1_024, processes: 128, file_mb: 256, disk_mb: 512 };
/** Turns that a script holds; a conversation needs two for each message. */
const TURNS = 400;
const POLL_MS = 100;
/** A start or a deletion under attack: 60,000 files are archived one by one, on a machine that does other work. */
const PATIENCE_MS = 600_000;

export interface Conversation {
  readonly id: string;
  readonly sandboxId: string;
}

export class HostileGround {
  readonly dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'ph-')));
  /** Number of lines that the service printed. */
  lines = 0;
  /** Set when the service ended by itself. */
  ended: string | null = null;
  readonly #children: ChildProcess[] = [];
  #service: ChildProcess | null = null;
  /** Calls of the service, once it serves. */
  ask: Ask = () => Promise.reject(new Error('it does not serve yet'));

  async open(): Promise<void> {
    const gateway = this.#spawn(['dist/scripted-gateway.js', this.#gatewayScript()], { TEST_KEY: KEY });
    const { url } = await recordOf(gateway, 'listening');
    await this.#programs();
    writeFileSync(path.join(this.dir, 'parley.yaml'), configuration(url ?? ''));
    const args = ['serve', '--config', path.join(this.dir, 'parley.yaml'), '--port', '0', '--json'];
    const program = path.join(this.dir, 'dist/parley.js');
    const service = this.#spawn([program, ...args, '--data', path.join(this.dir, 'data')], { TEST_KEY: KEY });
    service.once('exit', (code, signal) => (this.ended = `the service ended with ${signal ?? code}`));
    createInterface({ input: service.stderr! }).on('line', (line) => {
      this.lines += 1;
      if (process.env['CHAOS_LOG'] !== undefined) process.stderr.write(`${line}\n`);
    });
    this.#service = service;
    this.ask = apiOf(await recordOf(service, 'serving')).ask;
  }

  async start(text: string): Promise<Conversation> {
    const task = await this.ask('POST', APP, { initial_message: message(text) });
    return await until(`the start of "${text}"`, async () => {
      const [now] = await this.ask('GET', `${APP}/start-tasks?ids=${task.id}`);
      if (now.status === 'ERROR') throw new Error(`it did not start: ${now.detail}`);
      return now.status === 'READY' ? { id: now.app_conversation_id, sandboxId: now.sandbox_id } : null;
    });
  }

  /** The message is accepted when this returns. */
  async send({ id }: Conversation, text: string): Promise<void> {
    await this.ask('POST', `${APP}/${id}/send-message`, message(text));
  }

  async statusOf({ id }: Conversation): Promise<{ readonly sandbox: string; readonly execution: string }> {
    const [record] = await this.ask('GET', `${APP}?ids=${id}`);
    return { sandbox: record.sandbox_status, execution: record.execution_status };
  }

  /** What a user may request of a workspace, independent of its agent's answers. */
  async lookInto({ id }: Conversation): Promise<void> {
    for (const route of ['skills', 'file?file_path=work.txt', 'git/diff?path=work.txt', 'files'])
      await this.ask('GET', `${APP}/${id}/${route}`).catch(() => null);
  }

  /** How many messages there are: those of the user, and the agent's answers. */
  async messageCount({ id }: Conversation): Promise<number> {
    return (await this.ask('GET', `/api/v1/conversation/${id}/events/count?kind__eq=MessageEvent`)) as number;
  }

  /** The newest error event of its agent. */
  async troubleOf({ id }: Conversation): Promise<string> {
    const { items } = await this.ask('GET', `/api/v1/conversation/${id}/events/search?limit=100`);
    const of = items.findLast(({ kind }: Answer) => /Error/.test(kind));
    return JSON.stringify(of ?? items.slice(-6)).slice(0, 3_000);
  }

  /** Texts of the user's messages in the transcript. */
  async messagesIn({ id }: Conversation): Promise<readonly string[]> {
    const texts: string[] = [];
    let page = '';
    do {
      const route = `/api/v1/conversation/${id}/events/search?limit=100${page === '' ? '' : `&page_id=${page}`}`;
      const { items, next_page_id: next } = await this.ask('GET', route);
      for (const one of items)
        if (one.kind === 'MessageEvent' && one.source === 'user') texts.push(one.llm_message.content[0].text);
      page = next ?? '';
    } while (page !== '');
    return texts;
  }

  /** The sandbox is gone with its files when this returns. */
  async remove(conversation: Conversation): Promise<void> {
    await this.ask('DELETE', `${APP}/${conversation.id}`);
    await until(`the end of sandbox ${conversation.sandboxId}`, () =>
      Promise.resolve(existsSync(this.#sandboxDir(conversation)) ? null : true),
    );
  }

  workspaceOf(conversation: Conversation): string {
    return path.join(this.#sandboxDir(conversation), 'workspace');
  }

  memoryMiB(): number {
    return residentMib(this.#service?.pid);
  }

  descriptors(): number {
    return readdirSync(`/proc/${this.#service?.pid}/fd`).length;
  }

  left(): readonly string[] {
    const dir = path.join(this.dir, 'data/sandboxes');
    return existsSync(dir) ? readdirSync(dir) : [];
  }

  async close(): Promise<void> {
    for (const child of this.#children.reverse()) await end(child, 'SIGTERM');
    await removeTree(this.dir);
  }

  #sandboxDir({ sandboxId }: Conversation): string {
    return path.join(this.dir, 'data/sandboxes', sandboxId);
  }

  #spawn(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
    const child = spawn(process.execPath, [...args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', TMPDIR: this.dir, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    return child;
  }

  /** The programs as they were built, but for an Agent Server that the attacker can control. */
  async #programs(): Promise<void> {
    cpSync('dist', path.join(this.dir, 'dist'), {
      recursive: true,
      filter: (file) => !file.endsWith('.compiled'),
    });
    for (const name of ['node_modules', 'package.json'])
      symlinkSync(path.resolve(name), path.join(this.dir, name));
    const built = (name: string): string => path.join(this.dir, `${name}.cjs`);
    for (const name of ['hostile', 'lying-agent']) {
      await bundle({
        // This program is itself a bundle, without another root.
        absWorkingDir: process.cwd(),
        entryPoints: [`bench/chaos/inside/${name}.ts`],
        outfile: built(name),
        format: 'cjs',
        sourcemap: false,
      });
    }
    const agent = path.join(this.dir, 'dist/agent-server.cjs');
    const own = `{\n${readFileSync(built('lying-agent'), 'utf8')}\n}\n`;
    writeFileSync(agent, own + readFileSync(agent, 'utf8'));
  }

  #gatewayScript(): string {
    const file = path.join(this.dir, 'gateway.yaml');
    const work = { tool: 'terminal', arguments: { command: 'date >> work.txt; sleep 0.2' } };
    const turns = Array.from({ length: TURNS / 2 }, () => [work, { say: 'It is done.' }]).flat();
    const attack = {
      tool: 'terminal',
      arguments: { command: 'cd /workspace && node .hostile.cjs', timeout: 86_400 },
    };
    const script = {
      kind: 'gateway-script',
      version: 1,
      keys: [{ key: 'os.environ/TEST_KEY', name: 'hostile' }],
      models: { 'vendor/small': { input: '0.15', output: '0.60' } },
      scripts: [
        { name: 'hostile', when: { contains: 'be patient' }, turns: [{ say: 'I am.' }, attack] },
        { name: 'work', turns },
      ],
    };
    writeFileSync(file, JSON.stringify(script));
    mkdirSync(path.join(this.dir, 'data'), { mode: 0o700 });
    return file;
  }

  /** Copies the attacker's program into its workspace, before the message that starts it. */
  plant(conversation: Conversation): void {
    cpSync(path.join(this.dir, 'hostile.cjs'), path.join(this.workspaceOf(conversation), '.hostile.cjs'));
  }
}

const message = (text: string): object => ({ content: [{ type: 'text', text }] });

function configuration(gateway: string): string {
  const entry = { model: 'openai/vendor/small', api_base: `${gateway}/v1`, api_key: 'os.environ/TEST_KEY' };
  return JSON.stringify({
    runtime: {
      kind: 'process',
      isolation: 'namespaces',
      limits: LIMITS,
      egress: { allow: ['registry.example'] },
    },
    limits: { idle_time: 0 },
    capacity: { sandboxes_per_user: 100 },
    proxy_config: { model_list: [{ model_name: 'default', proxyvendor_params: entry }] },
  });
}

export async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await wait(POLL_MS)) {
    const found = await look();
    if (found !== null) return found;
  }
  throw new Error(`${what} did not come`);
}
