/**
 * Conversations of their own, so many at once: each is started, and its successor when it is finished.
 * Owns the load; every conversation goes the whole way from a start request to an agent that has finished.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { StepRecord } from '../../engine/batch.ts';
import { specOf, started } from '../temporal/conversations.ts';
import { openInstallation, type Reading } from './installation.ts';

export interface ConversationLoad {
  readonly conversations: number;
  readonly atOnce: number;
  readonly grouped: boolean;
  readonly dir: string;
}

export async function runConversations(load: ConversationLoad): Promise<Reading> {
  let finished = 0;
  let begun = 0;
  let allDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => (allDone = resolve));
  const begin = (): void => {
    if (begun >= load.conversations) return;
    begun += 1;
    void installation.engine.deliver(started(specOf(`message-${begun}`)));
  };
  const onStep = (record: StepRecord): void => {
    if (!hasJustFinished(record)) return;
    finished += 1;
    if (finished === load.conversations) allDone();
    else setImmediate(begin);
  };
  const { dir, grouped } = load;
  const installation = await openInstallation({ dir, grouped, onStep });
  installation.begin();
  for (let i = 0; i < load.atOnce; i += 1) begin();
  await done;
  const reading = installation.read();
  await installation.close();
  return reading;
}

function hasJustFinished({ address, before, after }: StepRecord): boolean {
  if (address.machine !== 'conversation') return false;
  const was = (before as ConversationState | null)?.executionStatus;
  return was !== 'FINISHED' && (after as ConversationState).executionStatus === 'FINISHED';
}
