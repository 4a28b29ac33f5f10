/**
 * Asking the API server of the cluster.
 * Owns the connection, the deadline of every call and the patience with a server that puts calls off; what a refusal
 * means is in api-errors.ts. Loads the client with the first call, so that who never needs Kubernetes never pays for it.
 */
import type {
  CoreV1Api,
  HttpLibrary,
  KubeConfig,
  NetworkingV1Api,
  RequestContext,
} from '@kubernetes/client-node';
import type { ResponseContext } from '@kubernetes/client-node';
import type * as Client from '@kubernetes/client-node';
import { existsSync, readFileSync } from 'node:fs';
import { ParleyError } from '../../core/parley-error.ts';
import { retryAfterMs } from '../../core/retry-after.ts';
import type { Clock } from '../../ports/clock.ts';
import { sleep } from '../on-host/wait.ts';
import { asRuntimeError } from './api-errors.ts';
import {
  CALL_TIMEOUT_MS,
  RETRY_AFTER_DEFAULT_MS,
  RETRY_AFTER_MAX_MS,
  THROTTLED_TRIES_MAX,
} from './limits.ts';

/** Where a pod finds the token of its own account. */
const ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';
const ACCOUNT_NAMESPACE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
const TOO_MANY_REQUESTS = 429;

type KubernetesClient = typeof Client;

/** The clients of the API groups that are used. */
export interface ClusterApi {
  readonly client: KubernetesClient;
  readonly config: KubeConfig;
  readonly core: CoreV1Api;
  readonly networking: NetworkingV1Api;
  /** Any other group of the API, under the same deadline. */
  readonly make: KubeConfig['makeApiClient'];
}

/** A cluster that is asked with deadlines, and whose errors are ours. */
export interface Cluster {
  readonly namespace: string;
  readonly clock: Clock;
  /**
   * Does something with the API server. `what` completes "Cannot ...".
   * @throws ParleyError runtime_unreachable: nothing is known; runtime_failed: the server refused for good; the
   *   `refusal` of its details says how
   */
  ask<T>(what: string, work: (api: ClusterApi) => Promise<T>): Promise<T>;
}

interface ClusterOptions {
  readonly kubeconfig: string | null;
  readonly context: string | null;
  readonly namespace: string;
  readonly callTimeoutMs?: number;
  readonly clock: Clock;
}

/** Where the pod of this process is; null outside of one, or without the token of an account. */
export function ownNamespace(): string | null {
  return existsSync(ACCOUNT_NAMESPACE) ? readFileSync(ACCOUNT_NAMESPACE, 'utf8').trim() : null;
}

export function kubernetesCluster(options: ClusterOptions): Cluster {
  let opened: Promise<ClusterApi> | null = null;
  return {
    namespace: options.namespace,
    clock: options.clock,
    async ask(what, work) {
      try {
        opened ??= open(options).catch((error: unknown) => {
          // A kubeconfig may come later.
          opened = null;
          throw error;
        });
        return await work(await opened);
      } catch (error) {
        throw asRuntimeError(error, what);
      }
    },
  };
}

/** The package of the client. A deployment that needs it asks before anything begins. @throws Error it is not installed */
export const loadKubernetesClient = () => import('@kubernetes/client-node');

async function open(options: ClusterOptions): Promise<ClusterApi> {
  const client = await loadKubernetesClient();
  const config = readKubeconfig(client, options);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw configProblem('it names no cluster');
  const configuration = client.createConfiguration({
    baseServer: new client.ServerConfiguration(cluster.server, {}),
    authMethods: { default: config },
    httpApi: patientHttp(client, options),
  });
  const make: ClusterApi['make'] = (kind) => new kind(configuration);
  return { client, config, core: make(client.CoreV1Api), networking: make(client.NetworkingV1Api), make };
}

function readKubeconfig(
  { KubeConfig: Config }: KubernetesClient,
  { kubeconfig, context }: ClusterOptions,
): KubeConfig {
  const config = new Config();
  try {
    if (kubeconfig !== null) config.loadFromFile(kubeconfig);
    else if (existsSync(ACCOUNT_TOKEN)) config.loadFromCluster();
    else config.loadFromDefault();
  } catch (error) {
    throw configProblem(error instanceof Error ? error.message : String(error));
  }
  if (context !== null) {
    if (config.getContextObject(context) === null) throw configProblem(`it has no context "${context}"`);
    config.setCurrentContext(context);
  }
  return config;
}

function configProblem(reason: string): ParleyError {
  const remedy = 'name a file in runtime.kubernetes.kubeconfig, and one of its contexts';
  return new ParleyError('runtime_unreachable', `Cannot read the kubeconfig: ${reason}`, { remedy });
}

/** Every call ends, and a call that was put off is made again when the server said so. */
function patientHttp(
  client: KubernetesClient,
  { clock, callTimeoutMs = CALL_TIMEOUT_MS }: ClusterOptions,
): HttpLibrary {
  const inner = new client.IsomorphicFetchHttpLibrary();
  const once = (request: RequestContext): Promise<ResponseContext> => {
    request.setSignal(AbortSignal.timeout(callTimeoutMs));
    return inner.send(request).toPromise();
  };
  return client.wrapHttpLibrary({
    async send(request) {
      for (let tries = 1; ; tries += 1) {
        const response = await once(request);
        if (response.httpStatusCode !== TOO_MANY_REQUESTS || tries >= THROTTLED_TRIES_MAX) return response;
        const asked = retryAfterMs(response.headers['retry-after'], clock.now());
        const waitMs = asked ?? RETRY_AFTER_DEFAULT_MS;
        if (waitMs > RETRY_AFTER_MAX_MS) return response;
        // What is not read keeps its connection.
        await response.body.binary();
        await sleep(clock, waitMs);
      }
    },
  });
}
