/**
 * A stand-in for the API server of a cluster, on loopback.
 * Owns connections, credentials, faults and the kubeconfig that leads here. What it holds is in object-store.ts, what a
 * call does in api-routes.ts, and what nodes do with pods in kubelet.ts.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { PodSecurity } from '../../../../runtimes/kubernetes/options.ts';
import { ApiRefusal, statusBody } from './api-object.ts';
import { answer, checkRights, targetOf } from './api-routes.ts';
import type { ApiCall, RouteContext } from './api-routes.ts';
import { createFaults } from './faults.ts';
import type { Fault, Faults } from './faults.ts';
import { createObjectStore } from './object-store.ts';
import type { ObjectStore } from './object-store.ts';
import { createWatches } from './watches.ts';
import type { Watches } from './watches.ts';

const TOKEN = 'token-of-the-test';
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

export interface FakeApi {
  readonly namespace: string;
  readonly store: ObjectStore;
  readonly faults: Faults;
  readonly watches: Watches;
  readonly routes: RouteContext;
  /** `METHOD /path?query` of every call, in order. */
  readonly calls: readonly string[];
  readonly kubeconfig: string;
  close(): Promise<void>;
}

export interface FakeApiOptions {
  /** Where the kubeconfig is written. */
  readonly dir: string;
  readonly logOf: (pod: string, lines: number) => string;
  /** What its namespace admits. */
  readonly podSecurity: PodSecurity;
}

export async function startFakeApi({ dir, logOf, podSecurity }: FakeApiOptions): Promise<FakeApi> {
  const namespace = 'parley-test';
  const store = createObjectStore();
  store.create('namespaces', '', { metadata: { name: namespace } });
  const watches = createWatches(store);
  const faults = createFaults();
  const calls: string[] = [];
  const routes: RouteContext = { store, namespace, quota: {}, forbidden: new Set(), logOf, podSecurity };
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    void serve({ routes, watches, faults }, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const kubeconfig = path.join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(`http://127.0.0.1:${port}`, namespace)), {
    mode: 0o600,
  });
  return {
    ...{ namespace, store, faults, watches, routes, calls, kubeconfig },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

interface Serving {
  readonly routes: RouteContext;
  readonly watches: Watches;
  readonly faults: Faults;
}

async function serve(on: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const call: ApiCall = {
    method: request.method ?? 'GET',
    url: new URL(request.url ?? '/', 'http://fake'),
    body: await bodyOf(request),
  };
  if (on.faults.isAway) {
    request.socket.destroy();
    return;
  }
  const fault = on.faults.take(`${call.method} ${call.url.pathname}${call.url.search}`);
  try {
    if (request.headers.authorization !== `Bearer ${TOKEN}`)
      throw new ApiRefusal(401, 'Unauthorized', 'Unauthorized');
    if (fault !== null && fault.isDone !== true) return strike(fault, request, response);
    const { searchParams } = call.url;
    if (searchParams.get('watch') === 'true') return watch(on, call, response);
    const told = call.url.pathname === REVIEWS ? review(on, call) : plainAnswer(on, call);
    if (fault !== null) return strike(fault, request, response);
    send(response, call.method === 'POST' ? 201 : 200, told);
  } catch (error) {
    refuse(response, error);
  }
}

function plainAnswer({ routes }: Serving, call: ApiCall): unknown {
  if (call.url.pathname === '/version') return { major: '1', minor: '34', gitVersion: 'v1.34.0' };
  return answer(routes, call, targetOf(call, routes.namespace));
}

function watch({ routes, watches }: Serving, call: ApiCall, response: ServerResponse): void {
  const target = targetOf(call, routes.namespace);
  checkRights(routes, call, target);
  const { searchParams } = call.url;
  const timeoutS = searchParams.get('timeoutSeconds');
  watches.open(
    {
      resource: target.resource,
      selector: searchParams.get('labelSelector'),
      version: searchParams.get('resourceVersion') || null,
      timeoutS: timeoutS === null ? null : Number(timeoutS),
    },
    response,
  );
}

/** Whether this account may do something: what the doctor asks. */
function review({ routes }: Serving, { body }: ApiCall): unknown {
  const { spec } = body as {
    readonly spec: { readonly resourceAttributes: Readonly<Record<string, string>> };
  };
  const { verb = '', resource = '', subresource } = spec.resourceAttributes;
  const what = subresource === undefined || subresource === '' ? resource : `${resource}/${subresource}`;
  return { ...(body as object), status: { allowed: !routes.forbidden.has(`${verb} ${what}`) } };
}

function strike(
  { what, message, retryAfterS }: Fault,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (what === 'hang') return;
  if (what === 'reset') {
    request.socket.destroy();
    return;
  }
  refuse(response, new ApiRefusal(what, '', message ?? `made to fail with ${what}`, retryAfterS ?? null));
}

function refuse(response: ServerResponse, error: unknown): void {
  const refusal = error instanceof ApiRefusal ? error : new ApiRefusal(500, 'InternalError', String(error));
  if (refusal.retryAfterS !== null) response.setHeader('retry-after', String(refusal.retryAfterS));
  send(response, refusal.status, statusBody(refusal));
}

function send(response: ServerResponse, status: number, told: unknown): void {
  const isText = typeof told === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' });
  response.end(isText ? told : JSON.stringify(told));
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === '' ? null : JSON.parse(text);
}

function kubeconfigOf(server: string, namespace: string): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'fake',
    clusters: [{ name: 'fake', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'fake', user: { token: TOKEN } }],
    contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake', namespace } }],
  };
}
