/**
 * What must hold for the transcripts of a batch, compared with the agents' own logs.
 * Owns the comparison; each function gives facts that a test expects to be empty or equal.
 */
import type { AgentLog } from './agent-logs.ts';
import { KEYS, type Key, type Results } from './results.ts';
import type { ItemStatus } from './run-status.ts';

export interface TranscriptFacts {
  readonly key: Key;
  /** 1, 2, 3 … without a gap. */
  readonly hasEverySequence: boolean;
  readonly ids: readonly unknown[];
  /** Ids of the agent's own log, in its order. */
  readonly agentIds: readonly unknown[];
  /** Times the agent said that it was done. */
  readonly finishes: number;
}

export async function transcriptFacts(
  results: Results,
  items: readonly ItemStatus[],
  logs: readonly AgentLog[],
): Promise<readonly TranscriptFacts[]> {
  return Promise.all(
    KEYS.map(async (key): Promise<TranscriptFacts> => {
      const events = await results.events(key);
      const item = items.find((one) => one.key === key);
      const log = logs.find(
        (one) => one.conversationId === item?.conversation_id && one.sandboxId === item.sandbox_id,
      );
      return {
        key,
        hasEverySequence: events.every(({ sequence }, index) => sequence === index + 1),
        ids: events.map(({ body }) => body['id']),
        agentIds: (log?.events ?? []).map((event) => event['id']),
        finishes: events.filter(({ body }) => isFinish(body)).length,
      };
    }),
  );
}

/** Finishes over all logs there ever were, those of given-up attempts included. */
export function finishesOf(logs: readonly AgentLog[]): number {
  return logs.flatMap(({ events }) => events).filter(isFinish).length;
}

function isFinish(event: Readonly<Record<string, unknown>>): boolean {
  return event['kind'] === 'ActionEvent' && event['tool_name'] === 'finish';
}
