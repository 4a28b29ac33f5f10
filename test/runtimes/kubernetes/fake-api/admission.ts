/**
 * What the stand-in API server refuses to create: what is beyond a quota, and pods below the level of its namespace.
 * Owns the sentences too: callers distinguish a quota from missing rights by them.
 */
import type { PodSecurity } from '../../../../runtimes/kubernetes/options.ts';
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

/** What the level `baseline` lets a container add. */
const BASELINE_RIGHTS = new Set([
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
  ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
]);

/** @throws ApiRefusal Forbidden, naming every violation */
export function checkPodSecurity(
  { metadata, spec = {} }: Pick<ApiObject, 'metadata' | 'spec'>,
  level: PodSecurity,
): void {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const violations = [
    ...baselineViolations(spec, containers),
    ...(level === 'baseline' ? [] : restrictedViolations(spec, containers)),
  ];
  if (violations.length === 0) return;
  const message = `pods "${metadata.name}" is forbidden: violates PodSecurity "${level}:latest": ${violations.join(', ')}`;
  throw new ApiRefusal(403, 'Forbidden', message);
}

function* baselineViolations(
  spec: PodSpec & Record<string, unknown>,
  containers: readonly Container[],
): Generator<string> {
  const profile = spec.securityContext?.['seccompProfile'] as { readonly type?: string } | undefined;
  if (profile?.type === 'Unconfined') yield 'seccompProfile';
  for (const key of ['hostNetwork', 'hostPID', 'hostIPC']) if (spec[key] === true) yield key;
  for (const { name, ...source } of spec.volumes ?? []) {
    if (!Object.keys(source).every((kind) => VOLUME_KINDS.has(kind))) yield `volume "${name}"`;
  }
  for (const { name, securityContext = {} } of containers) {
    if (securityContext['privileged'] === true) yield `privileged "${name}"`;
    const added = capabilitiesOf(securityContext).add ?? [];
    if (!added.every((right) => BASELINE_RIGHTS.has(right))) yield `non-default capabilities of "${name}"`;
  }
}

function* restrictedViolations(
  { securityContext = {} }: PodSpec,
  containers: readonly Container[],
): Generator<string> {
  const profile = securityContext['seccompProfile'] as { readonly type?: string } | undefined;
  if (profile?.type !== 'RuntimeDefault') yield 'seccompProfile';
  for (const { name, securityContext: own = {} } of containers) {
    const whole = { ...securityContext, ...own };
    if (whole['runAsNonRoot'] !== true) yield `runAsNonRoot != true of "${name}"`;
    if (whole['runAsUser'] === 0) yield `runAsUser=0 of "${name}"`;
    if (own['allowPrivilegeEscalation'] !== false) yield `allowPrivilegeEscalation of "${name}"`;
    const { drop = [], add = [] } = capabilitiesOf(own);
    const isBound = drop.includes('ALL') && add.every((right) => right === 'NET_BIND_SERVICE');
    if (!isBound) yield `unrestricted capabilities of "${name}"`;
  }
}

interface Capabilities {
  readonly drop?: readonly string[];
  readonly add?: readonly string[];
}

function capabilitiesOf(securityContext: Readonly<Record<string, unknown>>): Capabilities {
  return (securityContext['capabilities'] as Capabilities | undefined) ?? {};
}
