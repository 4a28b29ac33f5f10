/** Hooks around the steps of an agent: what they receive, what they forbid, and how each is recorded. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { hookConfigSchema, hooksFor, mergeHooks } from '../../agent/hooks/hook-config.ts';
import { Harness } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';

const touch = (name: string) => ['terminal', { command: `touch ${name}` }] as const;
const command = (text: string, matcher = '*') => [{ matcher, hooks: [{ type: 'command', command: text }] }];

async function withHooks(
  hooks: object,
  ...answers: Parameters<Harness['llm']['script']>[0]
): Promise<Harness> {
  const harness = await Harness.start();
  harness.llm.script(answers);
  await harness.run('go', { hook_config: hooks });
  return harness;
}

describe('a hook', () => {
  it('before a tool is told of it, and forbids it with exit code 2', async () => {
    const deny = `cat > told.json; grep -q '"touch b"' told.json && { echo not b >&2; exit 2; }; exit 0`;
    const harness = await withHooks(
      { pre_tool_use: command(deny, 'terminal') },
      toolCalls(touch('a'), touch('b')),
      toolCalls(['finish', { message: 'end' }]),
    );
    await harness.reaches('finished');
    expect(['a', 'b'].map((name) => existsSync(join(harness.workspace, name)))).toEqual([true, false]);
    expect(JSON.parse(readFileSync(join(harness.workspace, 'told.json'), 'utf8'))).toMatchObject({
      event_type: 'PreToolUse',
      tool_name: 'terminal',
      tool_input: { command: 'touch b' },
    });
    expect(await harness.eventsOf('UserRejectObservation')).toMatchObject([
      { rejection_reason: 'not b', rejection_source: 'hook' },
    ]);
    expect(await harness.eventsOf('HookExecutionEvent')).toMatchObject([
      { hook_event_type: 'PreToolUse', blocked: false, exit_code: 0 },
      { hook_event_type: 'PreToolUse', blocked: true, exit_code: 2, success: true },
    ]);
    const texts = JSON.stringify(harness.llm.requests[1]?.body.messages);
    expect(texts).toContain('The hook rejected this action: not b');
  });

  it('forbids by what it prints, and another exit code forbids nothing', async () => {
    const harness = await withHooks(
      {
        pre_tool_use: [
          ...command('exit 1'),
          ...command(`echo '{"decision":"deny","reason":"no"}'`, 'terminal'),
        ],
      },
      toolCalls(touch('a')),
      reply('end'),
    );
    await harness.reaches('finished');
    expect(existsSync(join(harness.workspace, 'a'))).toBe(false);
    expect(await harness.eventsOf('HookExecutionEvent')).toMatchObject([
      { exit_code: 1, success: false, blocked: false },
      { exit_code: 0, blocked: true, reason: 'no' },
    ]);
  });

  it('after a tool gets its result', async () => {
    const harness = await withHooks(
      { PostToolUse: command('cat > after.json', 'terminal') },
      toolCalls(['terminal', { command: 'echo printed' }]),
      reply('end'),
    );
    await harness.reaches('finished');
    const told = readFileSync(join(harness.workspace, 'after.json'), 'utf8');
    expect(told).toContain('printed');
  });

  it('keeps an agent from stopping, and tells it why', async () => {
    const once = `[ -e stopped ] || { touch stopped; echo run the tests first >&2; exit 2; }`;
    const harness = await withHooks({ stop: command(once) }, reply('done'), reply('really done'));
    await harness.reaches('finished');
    expect(JSON.stringify(harness.llm.requests[1]?.body.messages)).toContain('run the tests first');
  });

  it('that forbids to finish lets the agent go on', async () => {
    const once = `[ -e seen ] || { touch seen; exit 2; }`;
    const finish = toolCalls(['finish', { message: 'end' }]);
    const harness = await withHooks({ pre_tool_use: command(once, 'finish') }, finish, finish);
    await harness.reaches('finished');
    expect(harness.llm.requests).toHaveLength(2);
  });

  it('refuses a message before the model sees it, once for each message', async () => {
    const harness = await withHooks({ user_prompt_submit: command('exit 2') }, reply('unasked'));
    await harness.reaches('finished');
    expect(harness.llm.requests).toEqual([]);
    expect(await harness.eventsOf('HookExecutionEvent')).toHaveLength(1);
  });

  it('opens and closes a session once', async () => {
    const harness = await withHooks(
      { session_start: command('echo start >> session'), session_end: command('echo end >> session') },
      reply('one'),
    );
    await harness.reaches('finished');
    await harness.at('DELETE ');
    expect(readFileSync(join(harness.workspace, 'session'), 'utf8')).toBe('start\nend\n');
  });
});

describe('hookConfigSchema', () => {
  it('reads both spellings, at the top and below "hooks"', () => {
    const hooks = command('x');
    for (const given of [{ pre_tool_use: hooks }, { PreToolUse: hooks }, { hooks: { PreToolUse: hooks } }])
      expect(hooksFor(hookConfigSchema.parse(given), 'pre_tool_use', 'terminal')).toHaveLength(1);
  });

  it.each([
    ['*', 'terminal', true],
    ['', 'terminal', true],
    ['terminal', 'terminal', true],
    ['term', 'terminal', false],
    ['file_.*|terminal', 'file_editor', true],
    ['(', 'terminal', false],
  ])('the matcher "%s" takes the tool "%s": %s', (matcher, tool, takes) => {
    const config = hookConfigSchema.parse({ pre_tool_use: command('x', matcher) });
    expect(hooksFor(config, 'pre_tool_use', tool).length === 1).toBe(takes);
  });

  it('runs hooks of several in order', () => {
    const [one, two] = ['a', 'b'].map((name) => hookConfigSchema.parse({ stop: command(name) }));
    const merged = mergeHooks([one ?? null, null, two ?? null]);
    expect(hooksFor(merged, 'stop', null).map((hook) => hook.command)).toEqual(['a', 'b']);
    expect(mergeHooks([null])).toBeNull();
  });
});
