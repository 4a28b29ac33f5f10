/**
 * A disk that is full for one line of a conversation's log, whichever it is: the repeat of the call is the same call. One
 * that was full while the agent worked is remembered.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { EventLog } from '../../agent/conversation/event-log.ts';
import { describeWith } from '../helpers/requires.ts';
import { Harness, PATIENT, userMessage } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';

const MESSAGE_ID = '6d0a6f0c-6d8f-4a53-9b55-3f3e5b8b9c01';
const append = Reflect.get(EventLog.prototype, 'append');

/** Fails the append after `passed` more lines; `refused` says whether that has happened. */
function fillDisk(passed: number): { readonly refused: boolean } {
  const disk = { refused: false };
  let left = passed;
  vi.spyOn(EventLog.prototype, 'append').mockImplementation(function (this: EventLog, ...args) {
    left -= 1;
    if (left !== -1) return append.apply(this, args);
    disk.refused = true;
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  });
  return disk;
}

afterEach(() => vi.restoreAllMocks());

describe.each([0, 1, 2])('a log whose disk is full after %i lines', (passed) => {
  it('takes the repeat of a message for the message, and works on it once', async () => {
    const harness = await Harness.start();
    harness.llm.script([reply('done')]);
    await harness.call('POST /api/conversations', { json: harness.startBody() });
    const send = () => harness.at('POST /events', userMessage('go', true), { 'idempotency-key': MESSAGE_ID });
    const disk = fillDisk(passed);
    expect(await send()).toMatchObject({
      status: 507,
      body: { detail: expect.stringMatching('disk of the sandbox is full: ENOSPC') },
    });
    expect(disk.refused).toBe(true);
    expect(await harness.at('GET ')).toMatchObject({ body: { execution_status: 'idle' } });
    expect(await send()).toMatchObject({ status: 200 });
    await harness.reaches('finished');
    expect(await send()).toMatchObject({ status: 200 });
    const messages = await harness.eventsOf('MessageEvent');
    expect(messages.filter(({ source }) => source === 'user')).toMatchObject([{ id: MESSAGE_ID }]);
    expect(harness.llm.requests).toHaveLength(1);
  });

  it('takes the repeat of a start for the start, and works on its message once', async () => {
    const harness = await Harness.start();
    harness.llm.script([reply('done')]);
    // The first line of all is the system prompt.
    const disk = fillDisk(passed + 1);
    expect(await harness.run('go')).toMatchObject({ status: 507 });
    expect(disk.refused).toBe(true);
    expect((await harness.run('go')).status).toBeLessThan(300);
    await harness.reaches('finished');
    expect((await harness.run('go')).status).toBeLessThan(300);
    expect((await harness.eventsOf('MessageEvent')).filter(({ source }) => source === 'user')).toHaveLength(
      1,
    );
    expect(harness.llm.requests).toHaveLength(1);
  });
});

it('leaves a message that is not to be worked on alone, however often it comes', async () => {
  const harness = await Harness.start();
  await harness.call('POST /api/conversations', { json: harness.startBody() });
  for (let times = 0; times < 2; times += 1)
    await harness.at('POST /events', userMessage('later', false), { 'idempotency-key': MESSAGE_ID });
  expect(await harness.at('GET ')).toMatchObject({ body: { execution_status: 'idle' } });
  expect(harness.llm.requests).toHaveLength(0);
});

describeWith('mount', 'a workspace without room', () => {
  it('is remembered after there is room again, over a restart, and only then', async () => {
    const harness = await Harness.start();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', harness.workspace]);
    onTestFinished(() => void execFileSync('umount', ['--lazy', harness.workspace]));
    const state = async () => (await harness.at('GET ')).body['agent_state'];
    harness.llm.script([
      toolCalls(['terminal', { command: 'head -c 2M /dev/zero > half' }]),
      reply('there is room'),
      toolCalls(['terminal', { command: 'head -c 8M /dev/zero > big; echo words > text.md' }]),
      toolCalls(['terminal', { command: 'rm big' }]),
      reply('done'),
    ]);
    await harness.run('go');
    await harness.reaches('finished');
    expect(await state()).toEqual({});
    await harness.at('POST /events', userMessage('more', true));
    await expect.poll(() => harness.llm.requests.length, PATIENT).toBe(5);
    await harness.reaches('finished');
    expect(readFileSync(join(harness.workspace, 'text.md'), 'utf8')).toBe('');
    expect(await state()).toEqual({ disk_was_full: true });
    await harness.stop();
    await harness.startServer();
    expect(await state()).toEqual({ disk_was_full: true });
  });
});
