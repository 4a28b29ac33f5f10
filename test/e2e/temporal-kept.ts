/**
 * What a Temporal server keeps of a deployment: every history, record and payload of its workflows.
 * Owns the reading, raw and decoded; must not assert.
 */
import { Connection } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { CodecKeys } from '../../temporal/codec/codec-keys.ts';
import { isEncrypted, payloadCodecOf } from '../../temporal/codec/payload-codec.ts';
import { historyToText } from '../../temporal/replay.ts';
import { connectionOptions, type TemporalServer } from '../../temporal/server-address.ts';
import { rawHistory } from '../temporal/codec-scene.ts';
import { payloadsIn } from '../temporal/codec-traces.ts';

export interface Kept {
  readonly workflowIds: readonly string[];
  /** One text for each history and record, as the server gives it: the data of payloads in base64. */
  readonly texts: readonly string[];
  /** Histories by workflow id, as `temporal workflow show --output json` prints them. */
  readonly histories: ReadonlyMap<string, string>;
  /** The data of every payload: as kept, and opened with the keys. */
  readonly data: readonly Buffer[];
  readonly opened: readonly Buffer[];
  /** Payloads that are not encrypted. */
  readonly clear: readonly Payload[];
}

type Named = Pick<TemporalServer, 'address' | 'namespace'>;

/** Of all workflows of one task queue; `keys` are those of its processes. */
export async function keptOf(server: Named, queue: string, keys: CodecKeys | null): Promise<Kept> {
  const connection = await Connection.connect(connectionOptions(server));
  try {
    return await read(connection, { server, queue, keys });
  } finally {
    await connection.close();
  }
}

interface Asked {
  readonly server: Named;
  readonly queue: string;
  readonly keys: CodecKeys | null;
}

async function read(connection: Connection, { server, queue, keys }: Asked): Promise<Kept> {
  const { namespace } = server;
  const { executions = [] } = await connection.workflowService.listWorkflowExecutions({
    namespace,
    query: `TaskQueue = '${queue}'`,
    pageSize: 1_000,
  });
  const histories = new Map<string, string>();
  const kept: object[] = [...(executions ?? [])];
  for (const { execution } of executions ?? []) {
    const at = { workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' };
    const events = await rawHistory(connection, at);
    histories.set(at.workflowId, historyToText({ events } as never));
    kept.push(...events);
    kept.push(await connection.workflowService.describeWorkflowExecution({ namespace, execution: at }));
  }
  const payloads = kept.flatMap(payloadsIn);
  const codec = payloadCodecOf(keys);
  const data = (all: readonly Payload[]): readonly Buffer[] => all.map((one) => Buffer.from(one.data ?? []));
  return {
    workflowIds: [...histories.keys()],
    texts: [...histories.values(), ...kept.map((one) => JSON.stringify(one, inBase64))],
    histories,
    data: data(payloads),
    opened: data(await codec.decode(payloads)),
    clear: payloads.filter((payload) => !isEncrypted(payload)),
  };
}

function inBase64(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return typeof value === 'bigint' ? String(value) : value;
}
