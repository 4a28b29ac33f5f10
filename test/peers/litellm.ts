/**
 * LiteLLM as its own process on a free loopback port, without a database.
 * Owns its configuration, its start and end, and the reading of its own record; litellm_record.py writes that.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../loopback/free-port.ts';
import { endProcess } from '../helpers/end-process.ts';
import { requirePeerPython } from '../helpers/python-peers.ts';
import { removeDir } from '../helpers/temp-dir.ts';

/** Starting compiles nothing, but a loaded machine takes its time. */
const START_MS_MAX = 600_000;
const POLL_MS = 100;

/** One row of LiteLLM's table of spend, as far as tests read it. */
export interface LitellmRow {
  readonly request_id: string;
  readonly model: string;
  readonly model_group: string;
  readonly team_id: string;
  readonly end_user: string;
  readonly session_id: string | null;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly spend: number;
  readonly status: 'success' | 'failure';
  /** JSON. */
  readonly metadata: string;
}

export interface Litellm {
  readonly origin: string;
  readonly pid: number;
  /** The file of its record: JSON lines, one row of its table of spend each. */
  readonly recordFile: string;
  /** Waits until it has recorded `count` calls that succeeded: it does so after the reply. */
  rows(count: number): Promise<readonly LitellmRow[]>;
  stop(): Promise<void>;
}

export interface LitellmOptions {
  readonly models: readonly { readonly name: string; readonly params: Readonly<Record<string, unknown>> }[];
  /** Virtual keys: value → alias and team. */
  readonly keys: Readonly<Record<string, { readonly alias: string; readonly team: string }>>;
  readonly settings?: Readonly<Record<string, unknown>>;
}

export async function startLitellm(options: LitellmOptions): Promise<Litellm> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-litellm-'));
  const recordFile = path.join(folder, 'record.jsonl');
  const port = await freePort();
  copyFileSync(path.join(import.meta.dirname, 'litellm_record.py'), path.join(folder, 'litellm_record.py'));
  // JSON is YAML.
  writeFileSync(path.join(folder, 'config.yaml'), JSON.stringify(configOf(options)));
  const child = spawn(
    requirePeerPython('litellm'),
    [
      '-m',
      'litellm.proxy.proxy_cli',
      '--config',
      'config.yaml',
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
    ],
    {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        PYTHONDONTWRITEBYTECODE: '1',
        // Its list of prices is in the package; the newest would be fetched.
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        PARLEY_TEST_RECORD: recordFile,
        PARLEY_TEST_KEYS: JSON.stringify(options.keys),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-4_000)));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-4_000)));
  const origin = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    // Its own stop waits for connections that callers keep open.
    await endProcess(child);
    removeDir(folder);
  };
  try {
    await ready(origin, child);
  } catch (cause) {
    await stop();
    throw new Error(`Cannot start LiteLLM: ${said}`, { cause });
  }
  return { origin, pid: child.pid ?? 0, recordFile, rows: (count) => rowsOf(recordFile, count), stop };
}

/** Nothing is tried again and nothing cools down: what the vendor says is what the caller must see. */
function configOf({ models, settings }: LitellmOptions): object {
  return {
    model_list: models.map(({ name, params }) => ({ model_name: name, litellm_params: params })),
    // It does not start without a master key, and does not use it while it checks keys by itself.
    general_settings: {
      master_key: `sk-${randomBytes(16).toString('hex')}`,
      custom_auth: 'litellm_record.check_key',
      ...settings,
    },
    litellm_settings: { callbacks: ['litellm_record.record'], telemetry: false, num_retries: 0 },
    router_settings: { disable_cooldowns: true, num_retries: 0 },
  };
}

async function ready(origin: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS_MAX;
  for (;;) {
    const answer = await fetch(`${origin}/health/liveliness`).catch(() => null);
    if (answer?.ok === true) return;
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`exit code ${child.exitCode}`);
    await delay(POLL_MS);
  }
}

async function rowsOf(file: string, count: number): Promise<readonly LitellmRow[]> {
  for (;;) {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    // What follows the last line end is being written.
    const rows = lines
      .slice(0, -1)
      .map((line) => JSON.parse(line) as LitellmRow)
      .filter(({ status }) => status === 'success');
    if (rows.length >= count) return rows;
    await delay(POLL_MS);
  }
}

/** It cannot say which port it chose, so one is chosen for it. */
