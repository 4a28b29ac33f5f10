/**
 * A real `parley serve` with a run in progress, in front of a gateway that answers from a script.
 * Owns the preparation, and the headers that reach the gateway; must not open a browser.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { callServed, serve, type Served } from '../api/served.ts';
import { eventually } from '../api/service.ts';
import { PARLEY, parley } from '../cli/parley-program.ts';
import { endProcess, type AtEnd } from '../helpers/end-process.ts';
import { startScriptedGateway } from '../scripted-gateway/started-gateway.ts';

const GATEWAY_KEY = 'sk-console';
const ENV = { VENDOR_KEY: GATEWAY_KEY };
/** Longer than the tests: an item that is at work stays at work. */
const SLOW_MS = 600_000;

const SCRIPT = `kind: gateway-script
version: 1
keys: [{ key: ${GATEWAY_KEY}, name: console }]
models: { vendor/small: { input: '150', output: '600' } }
scripts:
  - name: slow
    when: { contains: Overnight }
    turns:
      - { say: I look around., tool: terminal, arguments: { command: ls, security_risk: LOW, summary: Look around } }
      - { say: It takes a while., latency_ms: ${SLOW_MS} }
  - name: risky
    when: { contains: Clean up }
    turns:
      - say: I remove what is left over.
        tool: terminal
        arguments: { command: rm -f left-over.txt, security_risk: HIGH, summary: Remove left-over files }
      - { say: All is clean. }
  - name: anything
    turns:
      - say: I write it down.
        tool: terminal
        arguments: { command: echo noted > note.txt, security_risk: LOW, summary: Write a note }
      - { say: The note is written. }
`;

const JOB = `kind: job
version: 1
name: nightly
defaults: { model: coder }
admission: { concurrency: 3 }
conversations:
  - { id: write-notes, prompt: Write the notes of the release. }
  - { id: sort-imports, prompt: Sort the imports. }
  - { id: port-parser, prompt: 'Overnight, port the parser.' }
  - { id: index-search, prompt: 'Overnight, index the search.' }
  - { id: last-checks, prompt: 'Overnight, check everything.' }
  - { id: publish, prompt: 'Overnight, publish.' }
`;

export interface ConsoleWorld {
  readonly served: Served;
  readonly key: string;
  readonly folder: string;
  readonly configFile: string;
  readonly runId: string;
  /** Headers of every call that reached the gateway, in order. */
  readonly gatewayHeaders: readonly IncomingHttpHeaders[];
}

/** What is started is ended by what `atEnd` is given. */
export async function openConsoleWorld(folder: string, atEnd: AtEnd): Promise<ConsoleWorld> {
  const gateway = await startGateway(folder, atEnd);
  const gatewayHeaders: IncomingHttpHeaders[] = [];
  const recorder = await startRecorder(gateway, gatewayHeaders);
  atEnd(() => void recorder.close());
  const { port } = recorder.address() as AddressInfo;
  const config = configOf(`http://127.0.0.1:${port}/v1`);
  const configFile = path.join(folder, 'parley.yaml');
  writeFileSync(configFile, config);
  const runId = await leaveRun(folder, gatewayHeaders, atEnd);
  const served = await serve(folder, { config, atEnd, env: ENV });
  return { served, key: served.key ?? '', folder, configFile, runId, gatewayHeaders };
}

/** Cancels the run, deletes every sandbox and ends the service: nothing of it goes on. */
export async function closeConsoleWorld({ served, key, folder, runId }: ConsoleWorld): Promise<void> {
  const call = (method: string, route: string) => callServed(served, key, { method, path: route });
  await parley(['cancel', runId, '--config', 'parley.yaml'], { cwd: folder, env: ENV });
  const living = async (): Promise<readonly { readonly id: string; readonly status: string }[]> => {
    const { items } = (await call('GET', '/api/v1/sandboxes/search')).body;
    return items.filter(({ status }: { readonly status: string }) => status !== 'MISSING');
  };
  for (const { id } of await living()) await call('DELETE', `/api/v1/sandboxes/${id}`);
  await eventually(living, (left) => left.length === 0);
  await served.end('SIGTERM');
}

function configOf(gatewayUrl: string): string {
  return `# The deployment of this test.
runtime: { isolation: none }
limits: { idle_time: 3600 }
store: { path: data }
proxy_config:
  model_list:
    - model_name: coder
      proxyvendor_params:
        model: openai/vendor/small
        api_base: ${gatewayUrl}
        api_key: os.environ/VENDOR_KEY # of a script
        input_cost_per_token: '0.00015'
        output_cost_per_token: '0.0006'
`;
}

async function startGateway(folder: string, atEnd: AtEnd): Promise<string> {
  const script = path.join(folder, 'gateway.yaml');
  writeFileSync(script, SCRIPT);
  return await startScriptedGateway(script, atEnd);
}

/** Passes everything on, and keeps the headers. */
async function startRecorder(gateway: string, kept: IncomingHttpHeaders[]): Promise<Server> {
  const server = createServer((incoming, answer) => {
    kept.push(incoming.headers);
    const { method, url = '/', headers } = incoming;
    const onward = request(new URL(url, gateway), { method, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** A run that is killed at its work: the service goes on with it. */
async function leaveRun(folder: string, calls: readonly unknown[], atEnd: AtEnd): Promise<string> {
  writeFileSync(path.join(folder, 'job.yaml'), JOB);
  const runId = 'nightly-1';
  const args = [PARLEY, 'run', 'job.yaml', '--config', 'parley.yaml', '--run-id', runId, '--json'];
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...ENV },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  atEnd(() => endProcess(child));
  let said = '';
  child.stderr?.on('data', (text: Buffer) => (said += text.toString()));
  const exited = once(child, 'exit');
  await eventually(
    () => Promise.resolve({ calls: calls.length, code: child.exitCode, said }),
    ({ calls: count, code }) => {
      if (code !== null) throw new Error(`the run ended too early: ${said}`);
      return count >= CALLS_AT_WORK;
    },
  );
  child.kill('SIGKILL');
  await exited;
  return runId;
}

/** So many calls mean that some items have ended and others are in the middle of their work. */
const CALLS_AT_WORK = 8;
