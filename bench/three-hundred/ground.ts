/**
 * The example of three hundred as a user runs it, in a folder of its own: files, gateway, commands, and what is visible
 * of its sandboxes from outside.
 * Owns processes and their end; the cases decide what is done to them.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseUsd } from '../../scripted-gateway/decimal-usd.ts';
import { ledgerRowSchema } from '../../scripted-gateway/ledger.ts';
import { end } from '../../scripts/own-process.ts';
import { recordOf } from '../service.ts';

const ROOT = process.cwd();
const EXAMPLE = path.join(ROOT, 'examples/three-hundred');
const PARLEY = path.join(ROOT, 'bin/parley.js');
const GATEWAY = path.join(ROOT, 'dist/scripted-gateway.js');
export const KEY = 'sk-three-hundred';
const LEDGER = '.parley/gateway-ledger.jsonl';
/** Short compared with a conversation, long compared with a read of /proc. */
const POLL_EVERY_MS = 200;
/** The processes of a sandbox have its folders mounted. */
const SANDBOX = /\/sandboxes\/([0-9a-f]{32})/g;

export type ParleyRecord = Readonly<Record<string, unknown>>;

export interface Ended {
  readonly code: number | null;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  readonly ended: Promise<Ended>;
}

export class Ground {
  readonly dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-300-')));
  readonly dataDir = path.join(this.dir, '.parley');
  readonly #engine: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #children = new Set<ChildProcess>();
  #gateway: ChildProcess | null = null;
  #url = '';

  /** `dataMiB`: the data folder is a file system of that size; needs the right to mount one. */
  constructor(engine: 'embedded' | 'temporal', dataMiB: number | null) {
    const own = (file: string): boolean => !['.parley', 'out'].includes(path.relative(EXAMPLE, file));
    cpSync(EXAMPLE, this.dir, { recursive: true, filter: own });
    mkdirSync(this.dataDir);
    if (dataMiB !== null) {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${dataMiB}m,mode=0700`, 'tmpfs', this.dataDir]);
    }
    this.#engine = engine === 'temporal' ? ['--engine', 'temporal'] : [];
    this.#env = { PATH: process.env['PATH'] ?? '', TMPDIR: os.tmpdir(), HOME: os.homedir() };
  }

  /** Starts the gateway; a second time on its former port, with its former ledger. */
  async startGateway({ key = KEY, script = 'gateway.yaml' } = {}): Promise<void> {
    const port = this.#url === '' ? [] : ['--port', new URL(this.#url).port];
    const child = spawn(process.execPath, [GATEWAY, script, '--ledger', LEDGER, ...port], {
      cwd: this.dir,
      env: { ...this.#env, PARLEY_GATEWAY_KEY: key },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#gateway = child;
    this.#url = (await recordOf(child, 'listening'))['url'] ?? '';
  }

  async stopGateway(): Promise<void> {
    const gateway = this.#gateway;
    this.#gateway = null;
    if (gateway !== null) await end(gateway, 'SIGTERM');
  }

  /** Starts a command of Parley with `--json`; `onRecord` gets each record as it comes. */
  start(args: readonly string[], onRecord: (record: ParleyRecord) => void): Running {
    const takesEngine = ['run', 'resume'].includes(args[0] ?? '');
    const child = spawn(process.execPath, [PARLEY, ...args, '--json', ...(takesEngine ? this.#engine : [])], {
      cwd: this.dir,
      env: {
        ...this.#env,
        PARLEY_CONFIG: 'parley.yaml',
        PARLEY_GATEWAY_URL: `${this.#url}/v1`,
        PARLEY_GATEWAY_KEY: KEY,
        PARLEY_GATEWAY_EXPORT: `${this.#url}/spend/export`,
        ...(process.env['PARLEY_TEMPORAL_CLI'] === undefined
          ? {}
          : { PARLEY_TEMPORAL_CLI: process.env['PARLEY_TEMPORAL_CLI'] }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    child.once('close', () => this.#children.delete(child));
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('{')) onRecord(JSON.parse(line) as ParleyRecord);
    });
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }));
    return { pid: child.pid ?? 0, ended };
  }

  /** Runs a command to its end and returns its records. */
  async ask(args: readonly string[]): Promise<readonly ParleyRecord[]> {
    const records: ParleyRecord[] = [];
    const { code, stderr } = await this.start(args, (record) => records.push(record)).ended;
    if (records.length === 0) throw new Error(`Cannot run parley ${args.join(' ')}: exit ${code}: ${stderr}`);
    return records;
  }

  /** Nano-USD of all that the gateway has billed. */
  billed(): bigint {
    const lines = readFileSync(path.join(this.dir, LEDGER), 'utf8').split('\n');
    return lines
      .filter((line) => line !== '')
      .reduce((sum, line) => sum + (parseUsd(ledgerRowSchema.parse(JSON.parse(line)).cost_usd) ?? 0n), 0n);
  }

  /** The most sandboxes in namespaces that had a process at one poll, until it is stopped. */
  countSandboxes(): { stop(): number } {
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, this.#sandboxesNow());
    }, POLL_EVERY_MS);
    return {
      stop() {
        clearInterval(timer);
        return most;
      },
    };
  }

  async close(): Promise<void> {
    await this.stopGateway();
    // After a failure a command may still run: ended, so that a folder in use does not hide the first error.
    const ends = [...this.#children].map((child) => once(child, 'close'));
    for (const child of this.#children) child.kill('SIGKILL');
    await Promise.all(ends);
    try {
      execFileSync('umount', ['--lazy', this.dataDir], { stdio: 'ignore' });
    } catch {
      // It was not a mount.
    }
    rmSync(this.dir, { recursive: true, force: true });
  }

  #sandboxesNow(): number {
    // While /proc is read, one sandbox may end and another begin: only those seen twice existed at the same time.
    const first = this.#sandboxesSeen();
    const second = this.#sandboxesSeen();
    return [...first].filter((id) => second.has(id)).length;
  }

  #sandboxesSeen(): ReadonlySet<string> {
    const found = new Set<string>();
    const looked = new Set([namespaceOf('self')]);
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const namespace = namespaceOf(pid);
      if (looked.has(namespace)) continue;
      looked.add(namespace);
      for (const [, id = ''] of textOf(`/proc/${pid}/mountinfo`).matchAll(SANDBOX)) found.add(id);
    }
    return new Set([...found].filter((id) => existsSync(path.join(this.dataDir, 'sandboxes', id))));
  }
}

/** Of mounts; empty for a process that has ended meanwhile. */
function namespaceOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return '';
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
