/**
 * The secret of one pod: the key it is to accept, and the object that closes a process to others.
 * Owns its content and the script that takes the key out of the environment again. It is removed as soon as the Agent
 * Server answers, so that the key stands in the cluster's store for seconds only.
 */
import type { V1EnvVar, V1Secret, V1Volume } from '@kubernetes/client-node';
import { guardObject } from '../on-host/guard-object.ts';
import { labelsOf } from './names.ts';
import type { Marks } from './names.ts';

const KEY = 'session-key';
const KEY_VARIABLE = 'PARLEY_POD_KEY';
const GUARD_DIR = '/opt/parley-guard';
/** Processors that a node may have, by what Node.js calls them and by what `uname` does. */
const PROCESSORS = [
  ['x64', 'x86_64'],
  ['arm64', 'aarch64'],
] as const;
/** What the cluster tells every pod of its own API server: a sandbox has no business there. */
const CLUSTER_VARIABLES = [
  ...['KUBERNETES_PORT', 'KUBERNETES_PORT_443_TCP', 'KUBERNETES_PORT_443_TCP_ADDR'],
  ...['KUBERNETES_PORT_443_TCP_PORT', 'KUBERNETES_PORT_443_TCP_PROTO', 'KUBERNETES_SERVICE_HOST'],
  ...['KUBERNETES_SERVICE_PORT', 'KUBERNETES_SERVICE_PORT_HTTPS'],
];

export interface SecretOrder {
  readonly name: string;
  readonly installation: string;
  readonly marks: Marks;
  readonly key: string;
}

export function sessionSecret({ name, installation, marks, key }: SecretOrder): V1Secret {
  const guards = PROCESSORS.flatMap(([processor, machine]) => {
    const bytes = guardObject(processor);
    return bytes === null ? [] : [[guardFile(machine), Buffer.from(bytes).toString('base64')] as const];
  });
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, labels: labelsOf(installation, marks) },
    type: 'Opaque',
    immutable: true,
    data: { [KEY]: Buffer.from(key).toString('base64'), ...Object.fromEntries(guards) },
  };
}

export function keyVariable(secretName: string): V1EnvVar {
  return { name: KEY_VARIABLE, valueFrom: { secretKeyRef: { name: secretName, key: KEY } } };
}

/** The guards without the key: what is mounted can be read by the agent. */
export function guardVolume(secretName: string): V1Volume {
  const items = PROCESSORS.map(([, machine]) => ({ key: guardFile(machine), path: guardFile(machine) }));
  return { name: 'guard', secret: { secretName, items, defaultMode: 0o444 } };
}

export const GUARD_MOUNT = { name: 'guard', mountPath: GUARD_DIR, readOnly: true } as const;

/**
 * Hands the key over on descriptor 5 and in no environment, bounds files, and chooses the guard of this processor.
 * `$0` is Node.js, `$1` the first program; `fileBytes` null sets no bound.
 */
export function launchScript(fileBytes: number | null): string {
  // The unit of a shell's limit on files is 512 bytes.
  const limits = ['ulimit -c 0', ...(fileBytes === null ? [] : [`ulimit -f ${Math.ceil(fileBytes / 512)}`])];
  return [
    ...limits,
    `key="$${KEY_VARIABLE}"`,
    `unset ${KEY_VARIABLE} ${CLUSTER_VARIABLES.join(' ')}`,
    // Backquotes: the cluster has a use of its own for a name in brackets behind a dollar sign.
    `guard="${GUARD_DIR}/\`uname -m\`.node"`,
    'init="$1"; shift',
    'if [ -e "$guard" ]; then set -- --guard "$guard" "$@"; fi',
    'exec "$0" "$init" "$@" 5<<END </dev/null',
    '$key',
    'END',
    '',
  ].join('\n');
}

function guardFile(machine: string): string {
  return `${machine}.node`;
}
