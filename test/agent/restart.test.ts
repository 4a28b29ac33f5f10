/** What survives the end of the process, and what must not (D15, D20). */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { CONVERSATION_ID, Harness, LLM_KEY, userMessage } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';

function logFile(harness: Harness): string {
  return join(harness.conversationsDir, CONVERSATION_ID.replaceAll('-', ''), 'events.jsonl');
}

async function restart(harness: Harness): Promise<void> {
  await harness.stop();
  await harness.startServer();
}

describe('a restart', () => {
  it('keeps events, stats and tags, and continues once the key is back', async () => {
    const harness = await Harness.start();
    harness.llm.script([reply('one')]);
    await harness.run('go', { tags: { a: 'b' } });
    const before = await harness.reaches('finished');
    const events = await harness.events();
    await restart(harness);
    expect((await harness.at('GET ')).body).toEqual(before);
    expect(await harness.events()).toEqual(events);

    await harness.at('POST /events', userMessage('more', true));
    await harness.reaches('error');
    expect((await harness.eventsOf('ConversationErrorEvent')).at(-1)).toMatchObject({
      code: 'LLMAuthenticationError',
    });
    harness.llm.script([reply('two')]);
    await harness.at('POST /llm', { api_key: LLM_KEY });
    await harness.at('POST /run');
    await harness.reaches('finished');
    expect(harness.llm.requests.at(-1)?.headers.authorization).toBe(`Bearer ${LLM_KEY}`);
    expect(harness.llm.requests.at(-1)?.body.messages).toHaveLength(4);
    const ids = (await harness.events()).map((event) => event.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('keeps a key from an address that it was not given for', async () => {
    const harness = await Harness.start();
    harness.llm.script([reply('one')]);
    await harness.run('go');
    await harness.reaches('finished');
    const elsewhere = 'http://127.0.0.1:9/v1';
    await harness.at('POST /llm', { api_key: null, base_url: elsewhere });
    await harness.at('POST /events', userMessage('more', true));
    await harness.reaches('error');
    // Told before anything is sent: there is no key for that address.
    expect((await harness.eventsOf('ConversationErrorEvent')).at(-1)).toMatchObject({
      code: 'LLMAuthenticationError',
    });
  });

  it('reports a run that was at work, and answers its open action', async () => {
    const harness = await Harness.start();
    harness.llm.script([toolCalls(['terminal', { command: 'touch began; sleep 60' }]), reply('end')]);
    await harness.run('go');
    await expect.poll(() => existsSync(join(harness.workspace, 'began'))).toBe(true);
    const log = readFileSync(logFile(harness));
    await harness.stop();
    // The log as a killed process leaves it: no word about the end, and half a line.
    writeFileSync(logFile(harness), log);
    appendFileSync(logFile(harness), '{"id":"torn","kind":"Mess');
    await harness.startServer();

    expect((await harness.at('GET ')).body).toMatchObject({ execution_status: 'error' });
    expect(await harness.eventsOf('ConversationErrorEvent')).toMatchObject([{ code: 'Interrupted' }]);
    expect(await harness.eventsOf('AgentErrorEvent')).toHaveLength(1);
    await harness.run('go');
    await harness.at('POST /run');
    await harness.reaches('finished');
    const lines = readFileSync(logFile(harness), 'utf8').trimEnd().split('\n');
    expect(lines.map((text) => (JSON.parse(text) as { id: string }).id)).not.toContain('torn');
  });

  it('reports a run ended by a stop of the server in the same way', async () => {
    const harness = await Harness.start();
    harness.llm.script([() => new Promise(() => undefined)]);
    await harness.run('go');
    await expect.poll(() => harness.llm.requests.length).toBe(1);
    await restart(harness);
    expect((await harness.at('GET ')).body).toMatchObject({ execution_status: 'error' });
    expect(await harness.eventsOf('ConversationErrorEvent')).toMatchObject([{ code: 'Interrupted' }]);
  });

  it('keeps a held action and runs it when it is accepted', async () => {
    const harness = await Harness.start();
    harness.llm.script([toolCalls(['terminal', { command: 'echo "$TOKEN" > held.txt' }]), reply('end')]);
    await harness.run('go', { confirmation_policy: { kind: 'AlwaysConfirm' } });
    await harness.reaches('waiting_for_confirmation');
    await restart(harness);
    expect((await harness.at('GET ')).body).toMatchObject({ execution_status: 'waiting_for_confirmation' });
    await harness.at('POST /llm', { api_key: LLM_KEY });
    await harness.at('POST /secrets', { secrets: { TOKEN: 'posted-again' } });
    await harness.at('POST /events/respond_to_confirmation', { accept: true });
    await harness.reaches('finished');
    expect(readFileSync(join(harness.workspace, 'held.txt'), 'utf8')).toBe('posted-again\n');
  });

  it('keeps the task list', async () => {
    const harness = await Harness.start();
    const tasks = [{ title: 'write tests', notes: '', status: 'in_progress' }];
    harness.llm.script([toolCalls(['task_tracker', { command: 'plan', task_list: tasks }]), reply('later')]);
    await harness.run('go');
    await harness.reaches('finished');
    await restart(harness);
    harness.llm.script([toolCalls(['task_tracker', { command: 'view' }]), reply('end')]);
    await harness.run('go');
    await harness.at('POST /events', userMessage('show', true));
    await harness.reaches('finished');
    expect((await harness.eventsOf('ObservationEvent')).at(-1)).toMatchObject({
      observation: { task_list: tasks },
    });
  });

  it('does not bring back what was deleted', async () => {
    const harness = await Harness.start();
    await harness.call('POST /api/conversations', { json: harness.startBody() });
    await harness.at('DELETE ');
    await restart(harness);
    expect((await harness.at('GET ')).status).toBe(404);
  });
});
