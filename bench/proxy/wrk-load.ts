/**
 * As many requests as go through, sent by wrk on the second core.
 * Owns its script and the reading of its output.
 */
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Contender } from './contenders.ts';

export interface LoadFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Replies that were no 2xx, and connections that broke. */
  readonly errors: number;
}

export interface LoadOptions {
  readonly folder: string;
  /** Absent: chat completions. */
  readonly route?: string;
  readonly body: string;
  readonly connections: number;
  readonly seconds: number;
}

export const HAS_WRK = spawnSync('wrk', ['--version']).error === undefined;

export async function wrkLoad(contender: Contender, options: LoadOptions): Promise<LoadFigures> {
  const { route = '/v1/chat/completions' } = options;
  const file = path.join(options.folder, 'body.json');
  writeFileSync(file, options.body);
  const script = path.join(options.folder, 'load.lua');
  writeFileSync(script, luaScript(contender.headers, file));
  const args = ['-t1', `-c${options.connections}`, `-d${options.seconds}s`, '--timeout', '60s', '-s', script];
  const output = await run('taskset', ['-c', '1', 'wrk', ...args, `${contender.url}${route}`]);
  const [, perSecond = 'NaN', p50 = 'NaN', p99 = 'NaN', errors = 'NaN'] =
    /FIGURES (\S+) (\S+) (\S+) (\S+)/.exec(output) ?? [];
  return {
    perSecond: Number(perSecond),
    p50Ms: Number(p50),
    p99Ms: Number(p99),
    errors: Number(errors),
  };
}

function luaScript(headers: Readonly<Record<string, string>>, bodyFile: string): string {
  const all = { 'content-type': 'application/json', ...headers };
  return [
    'wrk.method = "POST"',
    `local file = io.open(${JSON.stringify(bodyFile)}, "rb")`,
    'wrk.body = file:read("*a")',
    'file:close()',
    ...Object.entries(all).map(
      ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
    ),
    'function done(summary, latency)',
    '  local e = summary.errors',
    '  io.write(string.format("FIGURES %.1f %.3f %.3f %d\\n", summary.requests / summary.duration * 1e6,',
    '    latency:percentile(50) / 1000, latency:percentile(99) / 1000, e.status + e.connect + e.read + e.write + e.timeout))',
    'end',
  ].join('\n');
}

function run(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}
