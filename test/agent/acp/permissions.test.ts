/** What an agent asks permission for waits by the policy of the conversation, and gets the answer it was given. */
import { describe, expect, it } from 'vitest';

import { acpHarness, kindsOf, messageText } from './acp-harness.ts';
import type { AcpHarness } from './acp-harness.ts';

const ALWAYS = { confirmation_policy: { kind: 'AlwaysConfirm' } };
const RISKY = { confirmation_policy: { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: true } };
const wanted = {
  toolCallId: 'c1',
  title: 'rm -r build',
  kind: 'execute',
  rawInput: { command: 'rm -r build' },
};
const SCRIPT = [
  { update: { sessionUpdate: 'tool_call', ...wanted, status: 'pending' } },
  { ask: wanted },
  { update: { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' } },
  { text: 'Done.' },
  { stop: 'end_turn' },
];

async function answer({ harness }: AcpHarness, accept: boolean): Promise<void> {
  const body = { accept, reason: accept ? 'fine' : 'Keep the folder.' };
  expect((await harness.at('POST /events/respond_to_confirmation', body)).status).toBe(200);
}

describe('permissions of an agent', () => {
  it('are given where nobody wants to be asked', async () => {
    const { harness, start, heardOf } = await acpHarness();
    await start(SCRIPT);
    await harness.reaches('finished');
    expect(heardOf('permission')).toEqual([{ outcome: { outcome: 'selected', optionId: 'yes' } }]);
  });

  it('wait, and are given: the call is in the log before, its result behind', async () => {
    const acp = await acpHarness();
    await acp.start(SCRIPT, ALWAYS);
    await acp.harness.reaches('waiting_for_confirmation');
    expect(kindsOf(await acp.harness.events())).toEqual(['MessageEvent', 'ActionEvent']);
    expect(acp.heardOf('permission')).toEqual([]);
    expect((await acp.harness.at('POST /run', { approve_pending: false })).status).toBe(200);
    expect(acp.heardOf('permission')).toEqual([]);
    await answer(acp, true);
    await acp.harness.reaches('finished');
    expect(acp.heardOf('permission')).toEqual([{ outcome: { outcome: 'selected', optionId: 'yes' } }]);
    expect(kindsOf(await acp.harness.events())).toEqual([
      ...['MessageEvent', 'ActionEvent', 'ObservationEvent', 'MessageEvent'],
    ]);
  });

  it('wait, and are refused: the agent rests, and hears why with the next message', async () => {
    const acp = await acpHarness();
    await acp.start(SCRIPT, ALWAYS);
    await acp.harness.reaches('waiting_for_confirmation');
    await answer(acp, false);
    await acp.harness.reaches('idle');
    await expect
      .poll(() => acp.heardOf('permission'))
      .toEqual([{ outcome: { outcome: 'selected', optionId: 'no' } }]);
    await expect.poll(() => acp.heardOf('session/cancel')).toHaveLength(1);
    const [refusal] = await acp.harness.eventsOf('UserRejectObservation');
    expect(refusal).toMatchObject({ rejection_reason: 'Keep the folder.', tool_call_id: 'c1' });
    await acp.send([{ text: 'Then not.' }, { stop: 'end_turn' }]);
    await acp.harness.reaches('finished');
    const prompts = acp.heardOf<readonly string[]>('prompt');
    expect(prompts).toHaveLength(2);
    expect(prompts[1]?.[0]).toBe('You were not allowed to do this: rm -r build. Keep the folder.');
    const last = (await acp.harness.eventsOf('MessageEvent')).at(-1);
    expect(messageText(last)).toBe('Then not.');
    expect(await acp.harness.eventsOf('AgentErrorEvent')).toEqual([]);
  });

  it('do not wait for what only reads, where only risks are asked about', async () => {
    const { harness, start, heardOf } = await acpHarness();
    const read = { toolCallId: 'r', title: 'Read', kind: 'read', rawInput: {} };
    await start([{ ask: read }, ...SCRIPT], RISKY);
    await harness.reaches('waiting_for_confirmation');
    expect(heardOf('permission')).toHaveLength(1);
  });

  it('are one answer for several that wait, and a refusal where no such option is offered', async () => {
    const acp = await acpHarness();
    const other = { ...wanted, toolCallId: 'c2', title: 'curl' };
    const options = [{ optionId: 'x', name: 'Never', kind: 'reject_always' }];
    await acp.start([{ ask: wanted, wait: false }, { ask: other, options }, { stop: 'end_turn' }], ALWAYS);
    await acp.harness.reaches('waiting_for_confirmation');
    await expect.poll(() => acp.harness.eventsOf('ActionEvent')).toHaveLength(2);
    await answer(acp, true);
    await acp.harness.reaches('finished');
    expect(acp.heardOf('permission')).toEqual([
      { outcome: { outcome: 'selected', optionId: 'yes' } },
      { outcome: { outcome: 'cancelled' } },
    ]);
  });

  it('survive the end of the server: what is approved then is asked for again, and not put to anybody', async () => {
    const acp = await acpHarness({ ACP_CAN: 'resume' });
    await acp.start(SCRIPT, ALWAYS);
    await acp.harness.reaches('waiting_for_confirmation');
    await acp.harness.stop();
    await acp.harness.startServer();
    await acp.harness.reaches('waiting_for_confirmation');
    await acp.harness.at('POST /llm', { api_key: 'another-key-of-the-test' });
    await answer(acp, true);
    await acp.harness.reaches('finished');
    expect(acp.heardOf('session/resume')).toHaveLength(1);
    expect(acp.heardOf<readonly string[]>('prompt')[1]?.[0]).toContain('This was approved, and not done');
    expect(acp.heardOf('permission')).toEqual([{ outcome: { outcome: 'selected', optionId: 'yes' } }]);
  });

  it('end with the agent: nobody waits for a program that is gone', async () => {
    const { harness, start } = await acpHarness();
    await start(
      [{ ask: wanted, wait: false }, { pause: 300 }, { complain: 'no memory' }, { exit: 9 }],
      ALWAYS,
    );
    await harness.reaches('error');
    const [error] = await harness.eventsOf('ConversationErrorEvent');
    expect(error).toMatchObject({ code: 'AgentProcessError' });
    expect(String(error?.['detail'])).toContain('no memory');
  });
});
