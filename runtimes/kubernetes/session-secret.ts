/**
 * The secret of one pod: the key it is to accept, the object that closes a process to others, and the one that makes a
 * process touch files as another user.
 * Owns its content and the script that takes the key out of the environment again. It is removed as soon as the Agent
 * Server answers, so that the key stands in the cluster's store for seconds only.
 */
import type { V1EnvVar, V1Secret, V1Volume } from '@kubernetes/client-node';
import { guardObject } from '../on-host/guard/guard-file.ts';
import { otherUserArguments } from '../on-host/inside-view.ts';
import { filesAsObject, type ToolsUser } from '../on-host/tools-user.ts';
import { labelsOf, type Marks } from './names.ts';

const KEY = 'session-key';
const KEY_VARIABLE = 'PARLEY_POD_KEY';
const GUARD_DIR = '/opt/parley-guard';
/** Processors that a node may have, by what Node.js calls them and by what `uname` does. */
const PROCESSORS = [
  ['x64', 'x86_64'],
  ['arm64', 'aarch64'],
] as const;
/** What the cluster gives every pod of its own API server: a sandbox has no business there. */
const CLUSTER_VARIABLES = [
  ...['KUBERNETES_PORT', 'KUBERNETES_PORT_443_TCP', 'KUBERNETES_PORT_443_TCP_ADDR'],
  ...['KUBERNETES_PORT_443_TCP_PORT', 'KUBERNETES_PORT_443_TCP_PROTO', 'KUBERNETES_SERVICE_HOST'],
  ...['KUBERNETES_SERVICE_PORT', 'KUBERNETES_SERVICE_PORT_HTTPS'],
];

interface SecretOrder {
  readonly name: string;
  readonly installation: string;
  readonly marks: Marks;
  readonly key: string;
}

export function sessionSecret({ name, installation, marks, key }: SecretOrder): V1Secret {
  const objects = PROCESSORS.flatMap(([processor, machine]) => [
    [guardFile(machine), guardObject(processor)] as const,
    [filesAsFile(machine), filesAsObject(processor, POD_USER)] as const,
  ]).flatMap(([file, bytes]) =>
    bytes === null ? [] : [[file, Buffer.from(bytes).toString('base64')] as const],
  );
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, labels: labelsOf(installation, marks) },
    type: 'Opaque',
    immutable: true,
    data: { [KEY]: Buffer.from(key).toString('base64'), ...Object.fromEntries(objects) },
  };
}

export function keyVariable(secretName: string): V1EnvVar {
  return { name: KEY_VARIABLE, valueFrom: { secretKeyRef: { name: secretName, key: KEY } } };
}

/** Without a name in any image, and the number that images of agent servers use. */
export const POD_USER: ToolsUser = { uid: 10_001, gid: 10_001 };
/** In words of the shell that starts the first program. */
const FILES_AS = `${GUARD_DIR}/\`uname -m\`.files-as.node`;

/** The objects without the key: what is mounted can be read by the agent. */
export function guardVolume(secretName: string): V1Volume {
  const files = PROCESSORS.flatMap(([, machine]) => [guardFile(machine), filesAsFile(machine)]);
  const items = files.map((file) => ({ key: file, path: file }));
  return { name: 'guard', secret: { secretName, items, defaultMode: 0o444 } };
}

export const GUARD_MOUNT = { name: 'guard', mountPath: GUARD_DIR, readOnly: true } as const;

/**
 * Passes the key on descriptor 5 and in no environment, bounds files, and chooses the objects of this processor.
 * `$0` is Node.js, `$1` the first program; `fileBytes` null sets no bound, `toolsUser` null changes no user.
 */
export function launchScript(fileBytes: number | null, toolsUser: ToolsUser | null = null): string {
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
    ...(toolsUser === null ? [] : [`set -- ${otherUserArguments(toolsUser, FILES_AS).join(' ')} "$@"`]),
    'exec "$0" "$init" "$@" 5<<END </dev/null',
    '$key',
    'END',
    '',
  ].join('\n');
}

function filesAsFile(machine: string): string {
  return `${machine}.files-as.node`;
}

function guardFile(machine: string): string {
  return `${machine}.node`;
}
