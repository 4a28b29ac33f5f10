/**
 * Speaking to the process that owns a data directory, over its socket.
 * Owns the calls, and the notice of the owner's end; a socket without a listener means no engine is running.
 */
import { Client } from 'undici';
import type { ControlRequest, OwnerFacts, OwnerTask } from '../../api/control-server.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../core/error-catalogue.ts';
import type { RunId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { Host, HostPort } from '../host-port.ts';
import { placesOf } from '../sandboxes/places.ts';

/** Also of an owner that ends during a call. */
const NOBODY_THERE = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** What an owner of a data directory does for its callers, in its own process or over its socket. */
export type Owning = Required<
  Pick<Host, 'startRun' | 'tellRun' | 'collect' | 'report' | 'reconcile' | 'localApi'>
>;

/** @throws of each call: ParleyError as the owner does; `engine_unreachable` when it has ended */
export interface OwnerLink extends Owning {
  readonly facts: OwnerFacts;
  /** Resolves when the owner has ended, or this link was closed. */
  readonly lost: Promise<void>;
  close(): Promise<void>;
}

/** Null when no process listens. */
export async function openOwnerLink({
  dataDir,
}: Pick<DeploymentConfig, 'dataDir'>): Promise<OwnerLink | null> {
  const socketPath = placesOf(dataDir).controlSocket;
  const present = await presence(socketPath);
  if (present === null) return null;
  const facts = await ask(socketPath, { method: 'GET', path: '/owner' });
  if (facts === null) {
    await present.close();
    return null;
  }
  const post = async (path: string, body: object): Promise<unknown> => {
    const answer = await ask(socketPath, { method: 'POST', path, body });
    if (answer !== null) return answer;
    throw new ParleyError('engine_unreachable', 'Cannot ask the engine: its process has ended');
  };
  const work = async <Answer>(runId: RunId, task: OwnerTask, request?: object): Promise<Answer> =>
    ((await post('/work', { runId, task, request })) as { readonly answer: Answer }).answer;
  return {
    facts: facts as OwnerFacts,
    lost: present.lost,
    startRun: async (runId, plan, secrets) => void (await post('/runs', { runId, plan, secrets })),
    tellRun: async (runId, event, amended) =>
      void (await (amended === undefined
        ? post('/control', { runId, event })
        : post('/amendments', { runId, event, amended }))),
    collect: (runId) => work(runId, 'collect'),
    report: (runId) => work(runId, 'report'),
    reconcile: (runId, request) => work(runId, 'reconcile', request),
    localApi: async () => ((await post('/application', {})) as { readonly socketPath: string }).socketPath,
    close: present.close,
  };
}

/** Without a link: one request to the process that is there. */
export const sendControl: HostPort['control'] = async ({ dataDir }, request) => {
  const body: object = request satisfies Pick<ControlRequest, 'runId'>;
  const socketPath = placesOf(dataDir).controlSocket;
  return (await ask(socketPath, { method: 'POST', path: '/control', body })) !== null;
};

interface Presence {
  readonly lost: Promise<void>;
  close(): Promise<void>;
}

/** A request that is never answered in full: the connection ends with the owner. Null when no process listens. */
async function presence(socketPath: string): Promise<Presence | null> {
  const client = new Client('http://engine', { socketPath, bodyTimeout: 0 });
  try {
    const { body } = await client.request({ method: 'GET', path: '/presence' });
    const lost = new Promise<void>((resolve) => {
      body.once('close', resolve).once('error', () => resolve());
      body.resume();
    });
    return { lost, close: () => client.destroy() };
  } catch (error) {
    await client.destroy();
    if (isNobodyThere(error)) return null;
    throw error;
  }
}

interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
}

/** The answer; null when no process listens. Collecting and reconciling have no time limit. @throws ParleyError */
async function ask(socketPath: string, { method, path, body }: Question): Promise<unknown> {
  const client = new Client('http://engine', { socketPath, headersTimeout: 0, bodyTimeout: 0 });
  try {
    const response = await client.request({
      method,
      path,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode === 200) return JSON.parse(text) as unknown;
    throw refusal(text);
  } catch (error) {
    if (isNobodyThere(error)) return null;
    throw error;
  } finally {
    await client.close();
  }
}

function isNobodyThere(error: unknown): boolean {
  return NOBODY_THERE.has(String((error as { readonly code?: unknown }).code));
}

/** What the owner said, as if it had been said here. */
function refusal(text: string): ParleyError {
  const { code, detail } = JSON.parse(text) as { readonly code?: string; readonly detail?: string };
  const known = code !== undefined && Object.hasOwn(ERROR_CATALOGUE, code);
  return new ParleyError(known ? (code as ErrorCode) : 'internal', detail ?? text);
}
