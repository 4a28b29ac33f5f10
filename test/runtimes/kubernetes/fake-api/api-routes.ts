/**
 * The calls of the stand-in API server.
 * Owns the translation from method and path to the store; the connection itself is in fake-api.ts.
 */
import type { PodSecurity } from '../../../../runtimes/kubernetes/options.ts';
import { ApiRefusal, KINDS } from './api-object.ts';
import type { ApiObject, Resource } from './api-object.ts';
import { checkPodSecurity, checkQuota } from './admission.ts';
import type { Quota } from './admission.ts';
import type { Body, ObjectStore } from './object-store.ts';
import { matches, mergePatch } from './selectors.ts';

export interface ApiCall {
  readonly method: string;
  readonly url: URL;
  readonly body: unknown;
}

export interface RouteContext {
  readonly store: ObjectStore;
  readonly namespace: string;
  quota: Quota;
  /** `VERB resource` that this account may not do. */
  readonly forbidden: Set<string>;
  readonly logOf: (pod: string, lines: number) => string;
  readonly podSecurity: PodSecurity;
}

export interface Target {
  readonly resource: Resource;
  readonly name: string | null;
  readonly isLog: boolean;
}

const PATH =
  /^\/(?:api\/v1|apis\/networking\.k8s\.io\/v1)\/namespaces\/([^/]+)(?:\/([a-z]+)(?:\/([^/]+))?(\/log)?)?$/;
const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** @throws ApiRefusal NotFound: no such path, or another namespace */
export function targetOf({ url }: ApiCall, namespace: string): Target {
  const match = PATH.exec(url.pathname);
  const [, given, resource, name, log] = match ?? [];
  if (match === null || decodeURIComponent(given ?? '') !== namespace) {
    throw new ApiRefusal(404, 'NotFound', `namespaces "${given ?? url.pathname}" not found`);
  }
  if (resource === undefined) return { resource: 'namespaces', name: namespace, isLog: false };
  if (!(resource in KINDS))
    throw new ApiRefusal(404, 'NotFound', 'the server could not find the requested resource');
  return {
    resource: resource as Resource,
    name: name === undefined ? null : decodeURIComponent(name),
    isLog: log !== undefined,
  };
}

/** The answer's body; a text for logs. @throws ApiRefusal */
export function answer(on: RouteContext, call: ApiCall, target: Target): unknown {
  const { resource, name, isLog } = target;
  checkRights(on, call, target);
  if (isLog) return on.logOf(name ?? '', Number(call.url.searchParams.get('tailLines') ?? '0'));
  switch (call.method) {
    case 'GET':
      return name === null ? list(on, resource, call.url) : on.store.get(resource, name);
    case 'POST':
      return create(on, resource, call.body as Body);
    case 'PATCH':
      return patch(on, resource, name ?? '', call.body as Body);
    case 'DELETE':
      return remove(on, resource, name ?? '', call);
    default:
      throw new ApiRefusal(405, 'MethodNotAllowed', `${call.method} is not allowed`);
  }
}

export function checkRights(
  on: RouteContext,
  { method, url }: ApiCall,
  { resource, name, isLog }: Target,
): void {
  const reading = url.searchParams.get('watch') === 'true' ? 'watch' : name === null ? 'list' : 'get';
  const verb = VERBS[method] ?? reading;
  const what = isLog ? `${resource}/log` : resource;
  if (!on.forbidden.has(`${verb} ${what}`)) return;
  const message = `${what} is forbidden: User "system:serviceaccount:parley" cannot ${verb} resource "${what}" in the namespace "${on.namespace}"`;
  throw new ApiRefusal(403, 'Forbidden', message);
}

function list({ store }: RouteContext, resource: Resource, { searchParams }: URL): unknown {
  const limit = Number(searchParams.get('limit') ?? '0');
  const mark = searchParams.get('continue');
  const [at = '', after = ''] =
    mark === null || mark === '' ? [] : Buffer.from(mark, 'base64').toString().split(' ');
  if (at !== '' && Number(at) < store.oldest) {
    throw new ApiRefusal(410, 'Expired', 'The provided continue parameter is too old');
  }
  const found = store
    .all(resource)
    .filter((object) => matches(object, searchParams.get('labelSelector')) && object.metadata.name > after)
    .sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  const items = limit > 0 ? found.slice(0, limit) : found;
  const version = at === '' ? String(store.version) : at;
  const last = items.at(-1)?.metadata.name;
  const isMore = items.length < found.length && last !== undefined;
  const metadata = {
    resourceVersion: version,
    ...(isMore ? { continue: Buffer.from(`${version} ${last}`).toString('base64') } : {}),
  };
  const { apiVersion, kind } = KINDS[resource];
  return { apiVersion, kind: `${kind}List`, metadata, items };
}

function create(
  { store, namespace, quota, podSecurity }: RouteContext,
  resource: Resource,
  body: Body,
): ApiObject {
  const name = String(body.metadata?.name ?? '');
  if (store.find(resource, name) === null) checkQuota(store, quota, resource, name);
  if (resource === 'pods') checkPodSecurity(body as unknown as ApiObject, podSecurity);
  if (resource !== 'persistentvolumeclaims') return store.create(resource, namespace, body);
  // As the cluster does: a volume in use is kept until its pods are gone.
  const finalizers = [...(body.metadata?.finalizers ?? []), 'kubernetes.io/pvc-protection'];
  return store.create(resource, namespace, { ...body, metadata: { ...body.metadata, finalizers } });
}

function patch({ store }: RouteContext, resource: Resource, name: string, body: Body): ApiObject {
  const { resourceVersion: version, uid } = body.metadata ?? {};
  return store.change(resource, name, (object) => Object.assign(object, mergePatch(object, body)), {
    version,
    uid,
  });
}

interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string };
  readonly gracePeriodSeconds?: number;
}

function remove(
  { store }: RouteContext,
  resource: Resource,
  name: string,
  { body, url }: ApiCall,
): ApiObject {
  const options = (body ?? {}) as DeleteOptions;
  const expected = { uid: options.preconditions?.uid };
  const found = store.get(resource, name);
  // The query counts only where there is no body.
  const inQuery = body == null ? url.searchParams.get('gracePeriodSeconds') : null;
  const grace =
    inQuery === null
      ? (options.gracePeriodSeconds ?? found.spec?.terminationGracePeriodSeconds ?? 30)
      : Number(inQuery);
  const removed = store.remove(resource, name, expected);
  if (resource !== 'pods') return removed;
  if (found.spec?.nodeName === undefined || grace === 0) store.drop('pods', name);
  else store.change('pods', name, (pod) => (pod.metadata.deletionGracePeriodSeconds = grace));
  return removed;
}
