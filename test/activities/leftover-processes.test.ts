/** When the programs of an ended conversation are ended, and when a user may still come back to them. */
import { describe, expect, it } from 'vitest';
import { endLeftovers } from '../../activities/leftover-processes.ts';
import { conversationId } from '../../core/ids.ts';
import type { ConversationRow, RunItemRow } from '../../core/machine/projection.ts';
import { conversationRow, runItemRow } from '../contract/store-rows.ts';
import { activityWorld, AGENT_ORDER, inSandbox, RUN, SANDBOX } from './activity-world.ts';

const OTHER = conversationId('d'.repeat(32));

async function scriptBeside(
  other: Partial<ConversationRow> | null,
  item: Partial<RunItemRow> | null = null,
  isolation: 'container' | 'none' = 'container',
): Promise<string> {
  const around = await activityWorld();
  await inSandbox(around);
  const { world, runtime } = around;
  if (other !== null)
    await world.records.project([
      conversationRow(OTHER, { sandboxId: SANDBOX, startTask: 'READY', runId: RUN, key: 'one', ...other }),
    ]);
  if (item !== null) await world.records.project([runItemRow('one', { conversationId: OTHER, ...item })]);
  const seen = { ...world, runtime: { ...runtime, capabilities: { ...runtime.capabilities, isolation } } };
  return await endLeftovers(seen as unknown as typeof world, AGENT_ORDER);
}

describe('programs that an earlier conversation left running', () => {
  it.each<[string, Partial<ConversationRow> | null, Partial<RunItemRow> | null]>([
    ['nobody else was there', null, null],
    ['the other one’s item has its outcome', { executionStatus: 'FINISHED' }, { outcome: 'succeeded' }],
    [
      'the other one was an attempt before',
      { executionStatus: 'ERROR' },
      { conversationId: AGENT_ORDER.conversationId },
    ],
  ])('are ended when %s', async (_, other, item) => {
    expect(await scriptBeside(other, item)).toContain('kill -9');
  });

  it.each<[string, Partial<ConversationRow>, Partial<RunItemRow> | null]>([
    ['the other one works', { executionStatus: 'RUNNING' }, { outcome: 'succeeded' }],
    ['its work is being verified', { executionStatus: 'FINISHED' }, { outcome: null, phase: 'verifying' }],
    ['somebody may come back to it', { executionStatus: 'FINISHED', runId: null, key: null }, null],
    ['it still starts', { startTask: 'PREPARING_REPOSITORY' }, null],
  ])('are left alone while %s', async (_, other, item) => {
    expect(await scriptBeside(other, item)).toBe('');
  });

  it('are left alone where the processes of the host would be meant', async () => {
    expect(await scriptBeside(null, null, 'none')).toBe('');
  });
});
