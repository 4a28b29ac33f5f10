/** An agent of its own is stopped, limited, restarted and taken up again like ours. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { acpHarness, kindsOf, messageText } from './acp-harness.ts';

const end = { stop: 'end_turn' };
const call = (id: string, command = 'ls'): object => ({
  update: {
    ...{ sessionUpdate: 'tool_call', toolCallId: id, title: command, kind: 'execute', status: 'completed' },
    rawInput: { command },
  },
});
const steps = (...all: readonly object[]): never => all as never;

describe('a run of an agent of its own', () => {
  it('is interrupted: the agent is asked to end its turn, and goes on at the next message', async () => {
    const { harness, start, send, heardOf } = await acpHarness();
    const open = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'sleep', status: 'in_progress' };
    await start(steps({ update: open }, { untilCancelled: true }));
    await expect.poll(() => harness.eventsOf('ActionEvent')).toHaveLength(1);
    expect((await harness.at('POST /interrupt')).status).toBe(200);
    await harness.reaches('paused');
    expect(heardOf('session/cancel')).toHaveLength(1);
    expect(kindsOf(await harness.events()).slice(2)).toEqual(['AgentErrorEvent', 'InterruptEvent']);
    await send(steps({ text: 'On.' }, end));
    await harness.reaches('finished');
    expect(heardOf('initialize')).toHaveLength(1);
  });

  it('is interrupted although the agent does not listen: its program is ended', async () => {
    const { harness, start, heardOf } = await acpHarness({ ACP_CAN: 'deaf' });
    await start(steps({ text: 'Working.' }, { hang: true }));
    await expect.poll(() => heardOf('prompt')).toHaveLength(1);
    await harness.at('POST /interrupt');
    await harness.reaches('paused');
  });

  it('pauses after the step at hand', async () => {
    const { harness, start, heardOf } = await acpHarness();
    const go = join(harness.folder, 'go');
    await start(steps({ untilFile: go }, call('c1'), { untilCancelled: true }));
    await harness.reaches('running');
    await harness.at('POST /pause');
    writeFileSync(go, '');
    await harness.reaches('paused');
    expect(heardOf('session/cancel')).toHaveLength(1);
    expect((await harness.eventsOf('PauseEvent')).length).toBe(1);
  });

  it('ends as stuck when the same call has the same result again and again', async () => {
    const { harness, start } = await acpHarness();
    await start(steps(...['1', '2', '3', '4', '5'].map((id) => call(id)), { untilCancelled: true }));
    await harness.reaches('stuck');
  });

  it('ends at the limit of its steps', async () => {
    const { harness, start } = await acpHarness();
    const many = ['1', '2', '3', '4'].map((id) => call(id, `ls ${id}`));
    await start(steps(...many, { untilCancelled: true }), { max_iterations: 3 });
    const info = await harness.reaches('error');
    expect(info['agent_state']).toMatchObject({ error_code: 'MaxIterationsReached' });
  });

  it.each([
    ['max_turn_requests', 'MaxIterationsReached'],
    ['max_tokens', 'AgentOutputError'],
    ['refusal', 'AgentRefusedError'],
    ['cancelled', 'AgentStoppedError'],
    ['of_a_later_release', 'AgentStoppedError'],
  ])('ends in error for the stop reason %s', async (stop, code) => {
    const { harness, start } = await acpHarness();
    await start(steps({ stop }));
    expect((await harness.reaches('error'))['agent_state']).toMatchObject({ error_code: code });
  });

  it('ends in error with the words of the agent, and runs again', async () => {
    const { harness, start, heardOf } = await acpHarness();
    await start(
      steps({ refuse: { code: -32603, message: 'Internal error', data: { details: 'no quota' } } }),
    );
    const { agent_state: state } = await harness.reaches('error');
    expect(state).toMatchObject({ error_code: 'AgentRefusedError' });
    expect(String((state as { error_detail: string }).error_detail)).toContain('no quota');
    await harness.at('POST /run', {});
    await expect.poll(() => heardOf('prompt')).toHaveLength(2);
    expect(heardOf<readonly string[]>('prompt')[1]?.[0]).toMatch(/^Go on with what you were asked/);
  });

  it('takes a message that comes while the agent works, when its turn is over', async () => {
    const { harness, start, send, heardOf } = await acpHarness();
    const go = join(harness.folder, 'go');
    await start(steps({ untilFile: go }, { text: 'First.' }, end));
    await expect.poll(() => heardOf('prompt')).toHaveLength(1);
    await send(steps({ text: 'Second.' }, end));
    writeFileSync(go, '');
    await expect.poll(() => heardOf('prompt')).toHaveLength(2);
    await harness.reaches('finished');
    const texts = (await harness.eventsOf('MessageEvent')).map(messageText);
    expect(texts.filter((text) => text === 'First.' || text === 'Second.')).toEqual(['First.', 'Second.']);
  });

  it.each([
    ['load', 'session/load'],
    ['resume', 'session/resume'],
  ])('takes up its session after the end of the server with %s', async (can, method) => {
    const { harness, start, heardOf } = await acpHarness({ ACP_CAN: can });
    await start(steps({ text: 'Working.' }, { hang: true }));
    await expect.poll(() => heardOf('prompt')).toHaveLength(1);
    await harness.stop();
    await harness.startServer();
    expect((await harness.reaches('error'))['agent_state']).toMatchObject({ error_code: 'Interrupted' });
    await harness.at('POST /llm', { api_key: 'another-key-of-the-test' });
    await harness.at('POST /events', {
      role: 'user',
      content: JSON.stringify([{ text: 'Again.' }, end]),
      run: true,
    });
    await harness.reaches('finished');
    expect(heardOf(method)).toHaveLength(1);
    expect(heardOf('session/new')).toHaveLength(1);
    const texts = (await harness.eventsOf('MessageEvent')).map(messageText);
    expect(texts).not.toContain('said before');
    expect(texts.at(-1)).toBe('Again.');
  });

  it('begins a fresh session where the agent cannot load one, and says so to both', async () => {
    const { harness, start, heardOf } = await acpHarness();
    await start(steps({ text: 'Working.' }, { hang: true }));
    await expect.poll(() => heardOf('prompt')).toHaveLength(1);
    await harness.stop();
    await harness.startServer();
    await harness.at('POST /llm', { api_key: 'another-key-of-the-test' });
    await harness.at('POST /events', {
      role: 'user',
      content: JSON.stringify([{ text: 'Again.' }, end]),
      run: true,
    });
    await harness.reaches('finished');
    expect(heardOf('session/new')).toHaveLength(2);
    const [told] = (await harness.eventsOf('MessageEvent')).filter(({ source }) => source === 'environment');
    expect(messageText(told)).toMatch(/could not take up its session again \(it cannot load sessions\)/);
    expect(heardOf<readonly string[]>('prompt')[1]?.[0]).toMatch(/your session was lost[^]*Working/);
  });

  it('chooses model and mode, and says which modes there are', async () => {
    const chosen = await acpHarness({ ACP_CAN: 'choices' });
    await chosen.start(steps({ text: 'ok' }, end), {}, { acp_session_mode: 'plan' });
    await chosen.harness.reaches('finished');
    expect(chosen.heardOf('session/set_config_option')).toMatchObject([
      { configId: 'model', value: 'vendor/test-model' },
      { configId: 'mode', value: 'plan' },
    ]);
    const older = await acpHarness({ ACP_CAN: 'modes' });
    await older.start(steps({ text: 'ok' }, end), {}, { acp_session_mode: 'plan' });
    await older.harness.reaches('finished');
    expect(older.heardOf('session/set_mode')).toMatchObject([{ modeId: 'plan' }]);
    const none = await acpHarness({ ACP_CAN: 'modes' });
    await none.start(steps({ text: 'ok' }, end), {}, { acp_session_mode: 'ask' });
    const { agent_state: state } = await none.harness.reaches('error');
    expect(state).toMatchObject({ error_code: 'AgentModeError' });
    expect(JSON.stringify(state)).toContain('code, plan');
  });

  it.each([
    [{ ACP_PROTOCOL: '2' }, {}, 'AgentProtocolError', 'version 2'],
    [{ ACP_VERSION: '2.0.0' }, { acp_version: '1.0.0' }, 'AgentVersionError', '2.0.0, and not 1.0.0'],
    [{ ACP_REFUSES: 'session/new' }, {}, 'AgentAuthenticationError', 'Authentication required'],
    [{ ACP_COMPLAINS: 'no such library' }, {}, 'AgentProcessError', 'no such library'],
    [{}, { acp_command: ['/no/such/program'] }, 'AgentProcessError', 'no/such/program'],
    [{ OWN: '${NOT_THERE}' }, {}, 'AgentConfigurationError', 'NOT_THERE'],
  ])('does not begin with %j %j', async (variables, agent, code, words) => {
    const { harness, start } = await acpHarness(variables as Record<string, string>);
    await start(steps({ text: 'ok' }, end), {}, agent);
    const { agent_state: state } = await harness.reaches('error');
    expect(state).toMatchObject({ error_code: code });
    expect((state as { error_detail: string }).error_detail).toContain(words);
  });

  it('hands over tool servers with their secrets', async () => {
    const { harness, start, heardOf } = await acpHarness();
    const servers = { lint: { command: 'lint-server', args: ['-v'], env: { TOKEN: '${TOKEN}' } } };
    const agent = { mcp_config: { mcpServers: servers } };
    await start(steps({ text: 'ok' }, end), { secrets: { TOKEN: 'a-secret-token' } }, agent);
    await harness.reaches('finished');
    expect(heardOf<object>('session/new')).toMatchObject([
      {
        cwd: harness.workspace,
        mcpServers: [
          {
            name: 'lint',
            command: 'lint-server',
            args: ['-v'],
            env: [{ name: 'TOKEN', value: 'a-secret-token' }],
          },
        ],
      },
    ]);
  });

  it('answers that the model cannot be asked aside', async () => {
    const { harness, start } = await acpHarness();
    await start(steps({ text: 'ok' }, end));
    await harness.reaches('finished');
    expect((await harness.at('POST /ask_agent', { question: 'Why?' })).status).toBe(409);
    expect((await harness.at('POST /condense')).status).toBe(409);
    expect((await harness.at('GET ')).body['agent']).toMatchObject({
      kind: 'ACPAgent',
      acp_agent_name: 'scripted',
      acp_agent_version: '1.0.0',
      acp_env: { ACP_HEARD: null },
    });
  });
});
