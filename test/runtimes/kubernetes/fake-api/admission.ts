/**
 * What the stand-in API server refuses to create: what is beyond a quota, and pods below the level `restricted`.
 * Owns the sentences too: callers tell a quota from missing rights by them.
 */
import { ApiRefusal } from './api-object.ts';
import type { ApiObject, Container, PodSpec, Resource } from './api-object.ts';
import type { ObjectStore } from './object-store.ts';

export type Quota = Partial<Readonly<Record<Resource, number>>>;

const VOLUME_KINDS = new Set(['persistentVolumeClaim', 'emptyDir', 'secret', 'configMap', 'projected']);

/** @throws ApiRefusal Forbidden */
export function checkQuota(store: ObjectStore, quota: Quota, resource: Resource, name: string): void {
  const max = quota[resource];
  if (max === undefined) return;
  const used = store.all(resource).filter(({ status }) => status?.phase !== 'Failed').length;
  if (used < max) return;
  const message = `${resource} "${name}" is forbidden: exceeded quota: sandboxes, requested: ${resource}=1, used: ${resource}=${used}, limited: ${resource}=${max}`;
  throw new ApiRefusal(403, 'Forbidden', message);
}

/** @throws ApiRefusal Forbidden, naming every violation */
export function checkPodSecurity({ metadata, spec = {} }: Pick<ApiObject, 'metadata' | 'spec'>): void {
  const violations = [...podViolations(spec)];
  for (const one of [...(spec.initContainers ?? []), ...(spec.containers ?? [])])
    violations.push(...violationsOf(one));
  if (violations.length === 0) return;
  const message = `pods "${metadata.name}" is forbidden: violates PodSecurity "restricted:latest": ${violations.join(', ')}`;
  throw new ApiRefusal(403, 'Forbidden', message);
}

function* podViolations(spec: PodSpec & Record<string, unknown>): Generator<string> {
  const { securityContext = {} } = spec;
  if (securityContext['runAsNonRoot'] !== true) yield 'runAsNonRoot != true';
  if (securityContext['runAsUser'] === 0) yield 'runAsUser=0';
  const profile = securityContext['seccompProfile'] as { readonly type?: string } | undefined;
  if (profile?.type !== 'RuntimeDefault') yield 'seccompProfile';
  for (const key of ['hostNetwork', 'hostPID', 'hostIPC']) if (spec[key] === true) yield key;
  for (const { name, ...source } of spec.volumes ?? []) {
    if (!Object.keys(source).every((kind) => VOLUME_KINDS.has(kind))) yield `volume "${name}"`;
  }
}

function* violationsOf({ name, securityContext = {} }: Container): Generator<string> {
  if (securityContext['allowPrivilegeEscalation'] !== false) yield `allowPrivilegeEscalation of "${name}"`;
  if (securityContext['privileged'] === true) yield `privileged "${name}"`;
  const capabilities = securityContext['capabilities'] as { readonly drop?: readonly string[] } | undefined;
  if (capabilities?.drop?.includes('ALL') !== true) yield `unrestricted capabilities of "${name}"`;
}
