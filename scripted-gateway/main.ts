// The program: reads the script and the environment, listens, says where, stops on a signal.
// It is the only file here that touches the process; nothing imports it.
// Exit status: 0 stopped, 1 cannot listen or use the ledger, 2 wrong arguments or script.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import type { FastifyInstance } from 'fastify';

import { AnsweredErrors } from './gateway-context.ts';
import { openKeyRing, type KeyRing } from './key-ring.ts';
import { openLedger, type Ledger } from './ledger.ts';
import { stopGraceMs } from './limits.ts';
import { parseScript } from './script/parse-script.ts';
import { formatProblem, type Problem } from './script/problem.ts';
import type { GatewayScript } from './script/script.ts';
import { createServer } from './server.ts';

/** How to call the program. */
const usageText = 'usage: scripted-gateway SCRIPT.yaml [--port N] [--host ADDRESS] [--ledger FILE.jsonl]';

interface ProgramOptions {
  readonly scriptPath: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly host: string;
  readonly ledgerPath: string | null;
}

/** Reads the arguments. Throws an Error whose message is for the user when they are not understood. */
function parseProgramOptions(args: readonly string[]): ProgramOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      port: { type: 'string', default: '0' },
      host: { type: 'string', default: '127.0.0.1' },
      ledger: { type: 'string' },
    },
  });
  const [scriptPath, ...rest] = positionals;
  if (scriptPath === undefined || rest.length > 0) {
    throw new Error(`expected one script, found ${positionals.length}`);
  }
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : NaN;
  if (!(port <= 65_535)) throw new Error(`--port: found "${values.port}", expected a number from 0 to 65535`);
  return { scriptPath, port, host: values.host, ledgerPath: values.ledger ?? null };
}

/** Ends the program with a reason on stderr; thrown so that every function above it stops too. */
class Exit extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function readOptions(): ProgramOptions {
  try {
    return parseProgramOptions(process.argv.slice(2));
  } catch (error) {
    throw new Exit(2, `${messageOf(error)}\n${usageText}`);
  }
}

function readScript(path: string): { readonly script: GatewayScript; readonly ring: KeyRing } {
  const readText = (file: string): string => readFileSync(file, 'utf8');
  let text: string;
  try {
    text = readText(path);
  } catch (error) {
    throw new Exit(2, `Cannot read script "${path}": ${messageOf(error)}`);
  }
  const { script, problems } = parseScript(text, path, readText);
  if (script === null) throw exitWith(problems);
  const { ring, problems: keyProblems } = openKeyRing(script, process.env);
  if (keyProblems.length > 0) throw exitWith(keyProblems);
  return { script, ring };
}

function exitWith(problems: readonly Problem[]): Exit {
  return new Exit(2, problems.map(formatProblem).join('\n'));
}

/** A delay of zero is none at all: a timer would still cost a turn of the event loop. */
async function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs > 0) await delay(delayMs, undefined, { signal });
}

function stopOnSignal(server: FastifyInstance, ledger: Ledger): void {
  const stop = async (): Promise<void> => {
    const grace = delay(stopGraceMs, undefined, { ref: false });
    await Promise.race([server.close(), grace]);
    await ledger.close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop());
}

async function main(): Promise<void> {
  const options = readOptions();
  const { script, ring } = readScript(options.scriptPath);
  const ledger = await openLedger(options.ledgerPath);
  const server = createServer({
    script,
    ring,
    ledger,
    answeredErrors: new AnsweredErrors(),
    nowMs: Date.now,
    randomId: () => randomUUID().replaceAll('-', ''),
    sleep,
  });
  await server.listen({ port: options.port, host: options.host });
  stopOnSignal(server, ledger);
  const { address, port, family } = server.server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  process.stdout.write(`${JSON.stringify({ type: 'listening', url: `http://${host}:${port}` })}\n`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A full disk or a reader that has gone takes the line that says where it listens, and not the gateway with it. */
process.stdout.on('error', ({ message }) => {
  process.stderr.write(`Cannot say where it listens: ${message}; it goes on\n`);
});
process.stderr.on('error', () => undefined);

try {
  await main();
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = error instanceof Exit ? error.status : 1;
}
