/**
 * Being woken when a pod changes.
 * Owns one watch over the pods of this installation, open while a caller follows one: it goes on where it was after a
 * break, and begins anew when its place in time was forgotten. Events only wake; the woken caller reads the pod itself,
 * so an event that is lost, late or repeated changes nothing.
 */
import type { SandboxId } from '../../core/ids.ts';
import { sleep } from '../on-host/wait.ts';
import { answerOf, refusalOf } from './api-errors.ts';
import type { Cluster, ClusterApi } from './cluster.ts';
import { WATCH_PAUSE_MS, WATCH_RETRY_MS, WATCH_SECONDS } from './limits.ts';
import { selectorOf } from './names.ts';

export interface PodEvents {
  /** Resolves when the pod has changed since the last call, or after `waitMs`. */
  next(waitMs: number): Promise<void>;
  end(): void;
}

export interface PodWatch {
  /** Begin to follow before the first read: what changes in between is not missed. */
  follow(name: string): PodEvents;
}

interface Follower {
  readonly name: string;
  hasChanged: boolean;
  wake: (() => void) | null;
}

interface WatchEvent {
  readonly type: string;
  readonly object: {
    readonly code?: number;
    readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
  };
}

type WatchEnd = 'closed' | 'expired' | 'broken';

export function createPodWatch(
  cluster: Cluster,
  installation: string,
  id: SandboxId | null = null,
): PodWatch {
  const followers = new Set<Follower>();
  const labelSelector = selectorOf(installation, id);
  let running: AbortController | null = null;

  function tell(name: string | null): void {
    for (const follower of followers) {
      if (name !== null && follower.name !== name) continue;
      follower.hasChanged = true;
      follower.wake?.();
    }
  }

  async function run(stopped: AbortSignal): Promise<void> {
    let version: string | null = null;
    while (!stopped.aborted) {
      const seen: { version: string | null } = { version };
      const end = await cluster
        .ask('watch pods', async (api) => {
          seen.version ??= await listVersion(api, cluster.namespace, labelSelector);
          // Changes before that version reached no follower.
          if (version === null) tell(null);
          return await watchOnce({ api, cluster, labelSelector, seen, tell, stopped });
        })
        .catch((): WatchEnd => 'broken');
      version = end === 'expired' ? null : seen.version;
      await sleep(cluster.clock, end === 'broken' ? WATCH_RETRY_MS : WATCH_PAUSE_MS, stopped);
    }
  }

  return {
    follow(name) {
      const follower: Follower = { name, hasChanged: false, wake: null };
      followers.add(follower);
      if (running === null) {
        running = new AbortController();
        void run(running.signal);
      }
      return {
        async next(waitMs) {
          if (!follower.hasChanged) await woken(cluster, follower, waitMs);
          follower.hasChanged = false;
        },
        end() {
          followers.delete(follower);
          if (followers.size > 0) return;
          running?.abort();
          running = null;
        },
      };
    },
  };
}

async function woken(cluster: Cluster, follower: Follower, waitMs: number): Promise<void> {
  const early = new AbortController();
  follower.wake = () => early.abort();
  await sleep(cluster.clock, waitMs, early.signal);
  follower.wake = null;
}

async function listVersion({ core }: ClusterApi, namespace: string, labelSelector: string): Promise<string> {
  const page = await core.listNamespacedPod({ namespace, labelSelector, limit: 1 });
  return page.metadata?.resourceVersion ?? '0';
}

interface OpenWatch {
  readonly api: ClusterApi;
  readonly cluster: Cluster;
  readonly labelSelector: string;
  /** The last version that was seen, bookmarks included: a watch goes on behind it. */
  readonly seen: { version: string | null };
  readonly tell: (name: string | null) => void;
  readonly stopped: AbortSignal;
}

/** Resolves when this opening is over, however. */
function watchOnce({ api, cluster, labelSelector, seen, tell, stopped }: OpenWatch): Promise<WatchEnd> {
  const path = `/api/v1/namespaces/${encodeURIComponent(cluster.namespace)}/pods`;
  const query = {
    labelSelector,
    resourceVersion: seen.version ?? '',
    allowWatchBookmarks: true,
    timeoutSeconds: WATCH_SECONDS,
  };
  return new Promise((resolve) => {
    let isForgotten = false;
    const onEvent = (_type: string, _object: unknown, event: WatchEvent): void => {
      const { type, object } = event;
      if (type === 'ERROR') {
        isForgotten = object.code === 410;
        return;
      }
      seen.version = object.metadata?.resourceVersion ?? seen.version;
      if (type !== 'BOOKMARK') tell(object.metadata?.name ?? null);
    };
    const onEnd = (error: unknown): void => {
      const isExpired = isForgotten || isGone(error);
      resolve(isExpired ? 'expired' : error === null || error === undefined ? 'closed' : 'broken');
    };
    const opening = new api.client.Watch(api.config).watch(path, query, onEvent, onEnd);
    const cut = (): void => void opening.then((one) => one.abort());
    if (stopped.aborted) cut();
    stopped.addEventListener('abort', cut, { once: true });
  });
}

function isGone(error: unknown): boolean {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null;
  return status === 410 || refusalOf(answerOf(error)) === 'expired';
}
