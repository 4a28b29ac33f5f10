/**
 * The workspace as a stream, whether the sandbox is up or not.
 * Owns a reader: a pod of its own that sees the volume read-only, so that what runs in the sandbox has no hand in the
 * archive; it is removed afterwards, and ends by itself should we not come to that.
 */
import type { V1Pod } from '@kubernetes/client-node';
import { randomBytes } from 'node:crypto';
import { request, type IncomingMessage } from 'node:http';
import { ParleyError, asParleyError } from '../../core/parley-error.ts';
import { podAnswers, urlOf } from './agent-address.ts';
import {
  AGENT_PORT,
  POLL_MS,
  NODE_DISK,
  READER_CPU,
  READER_CPU_ASKED,
  READER_MEMORY,
  READER_MEMORY_ASKED,
  READER_READY_MS,
  READER_SECONDS_MAX,
} from './limits.ts';
import { podName, type Marks } from './names.ts';
import type { KubernetesRuntimeOptions } from './options.ts';
import { CONTAINER_SECURITY, podOf, workspaceVolume } from './pod-spec.ts';
import { MAIN_CONTAINER } from './pod-state.ts';
import { findPod, makePod, makeSecret, removePods, removeSecrets, type Pods } from './pods.ts';
import { keyVariable, sessionSecret } from './session-secret.ts';
import type { VolumeRecord } from './volume-record.ts';

/** Tells readers of one incarnation apart. */
const NAME_BYTES = 3;
const KEY_BYTES = 24;
const DIRECTORY = '/volume/workspace';

interface ExportOrder {
  readonly options: KubernetesRuntimeOptions;
  readonly pods: Pods;
  readonly record: VolumeRecord;
}

/** @throws ParleyError workspace_unreadable */
export async function* exportVolume(order: ExportOrder): AsyncGenerator<Uint8Array> {
  const { options, pods, record } = order;
  const { sandboxId, generation } = record;
  const marks: Marks = { sandboxId, generation, role: 'reader' };
  const agentPod = podName(options.installation, sandboxId, generation);
  const name = `${agentPod}-r${randomBytes(NAME_BYTES).toString('hex')}`;
  const key = randomBytes(KEY_BYTES).toString('hex');
  try {
    await makeSecret(pods, sessionSecret({ name, installation: options.installation, marks, key }));
    const beside = (await findPod(pods, agentPod))?.node ?? null;
    await makePod(pods, readerPod({ options, marks, name, node: beside }));
    const address = await readerAddress(order, name);
    for await (const chunk of await open(`${urlOf(address)}/`, key)) yield chunk as Uint8Array;
  } catch (error) {
    const reason = asParleyError(error).message;
    throw new ParleyError('workspace_unreadable', `Cannot export sandbox "${sandboxId}": ${reason}`, {
      cause: error,
    });
  } finally {
    await removeReader(pods, name);
  }
}

/** A reader that could not be removed now ends by itself, and the sweep takes it. */
async function removeReader(pods: Pods, name: string): Promise<void> {
  try {
    const pod = await findPod(pods, name);
    if (pod !== null) await removePods(pods, [pod]);
    await removeSecrets(pods, [name]);
  } catch {
    // What was read is whole all the same.
  }
}

interface ReaderOrder {
  readonly options: KubernetesRuntimeOptions;
  readonly marks: Marks;
  readonly name: string;
  /** The node of the sandbox: a volume is on one node at a time. Null: any. */
  readonly node: string | null;
}

function readerPod({ options, marks, name, node }: ReaderOrder): V1Pod {
  const disk = { 'ephemeral-storage': NODE_DISK };
  const resources = {
    limits: { memory: READER_MEMORY, cpu: READER_CPU, ...disk },
    requests: { memory: READER_MEMORY_ASKED, cpu: READER_CPU_ASKED, ...disk },
  };
  return podOf(
    { options, marks, name },
    {
      ...(node === null ? {} : { nodeName: node }),
      activeDeadlineSeconds: READER_SECONDS_MAX,
      volumes: [workspaceVolume(options.installation, marks)],
      containers: [
        {
          name: MAIN_CONTAINER,
          image: options.image,
          command: ['node', options.programs.workspaceReader, DIRECTORY, String(AGENT_PORT)],
          env: [keyVariable(name)],
          ports: [{ name: 'reader', containerPort: AGENT_PORT }],
          volumeMounts: [{ name: 'sandbox', mountPath: '/volume', readOnly: true }],
          resources,
          securityContext: CONTAINER_SECURITY,
        },
      ],
    },
  );
}

async function readerAddress({ pods, options: { clock } }: ExportOrder, name: string): Promise<string> {
  const until = clock.now() + READER_READY_MS;
  const events = pods.watch.follow(name);
  try {
    for (;;) {
      const status = (await findPod(pods, name))?.status;
      if (status?.kind === 'running' && (await podAnswers(status.address))) return status.address;
      const isOver = status === undefined || status.kind === 'ended' || status.kind === 'ending';
      if (isOver || clock.now() >= until) {
        const problem = status?.kind === 'pending' && status.problem !== null ? `: ${status.problem}` : '';
        throw new ParleyError('workspace_unreadable', `its reader did not answer${problem}`);
      }
      await events.next(status.kind === 'running' ? POLL_MS / 20 : POLL_MS);
    }
  } finally {
    events.end();
  }
}

function open(url: string, key: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const call = request(url, { agent: false, headers: { authorization: `Bearer ${key}` } }, (response) => {
      if (response.statusCode === 200) {
        resolve(response);
        return;
      }
      response.destroy();
      reject(new Error(`its reader answered ${response.statusCode ?? 'nothing'}`));
    });
    call.on('error', reject);
    call.end();
  });
}
