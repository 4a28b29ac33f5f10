/** Skills and hooks that lie in a repository: the agent has them from its first action, and what it has not is an event. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { workspaceHooks, workspaceSkills } from '../../agent/workspace-surface.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { Harness, userMessage } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';

function write(folder: string, files: Readonly<Record<string, string | Buffer>>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

const deny = (matcher: string) => ({
  hooks: { PreToolUse: [{ matcher, hooks: [{ type: 'command', command: 'echo not here >&2; exit 2' }] }] },
});

describe('a repository', () => {
  it('has its hooks obeyed and its skills told, in every conversation that is started in it', async () => {
    const harness = await Harness.start();
    const { workspace } = harness;
    write(workspace, {
      'AGENTS.md': 'Be kind.',
      '.agents/skills/fly/SKILL.md': '---\ndescription: Wings: how\n---\nFlap.',
      '.openhands/microagents/knowledge/swim.md': '---\ntriggers: swim\n---\nPaddle.',
      '.openhands/microagents/broken.md': '---\nname: x\ntriggers: [\n---\nNever told.',
      '.openhands/hooks.json': '\uFEFF' + JSON.stringify(deny('terminal')),
    });
    harness.llm.script([toolCalls(['terminal', { command: 'touch done' }]), reply('end')]);
    await harness.call('POST /api/conversations', {
      json: harness.startBody({ load_project: true, initial_message: userMessage('swim', true) }),
    });
    await harness.reaches('finished');
    expect(await harness.eventsOf('UserRejectObservation')).toMatchObject([
      { rejection_reason: 'not here', rejection_source: 'hook' },
    ]);
    expect(await harness.eventsOf('ObservationEvent')).toEqual([]);
    const prompt = JSON.stringify(harness.llm.requests[0]?.body.messages);
    for (const told of ['Be kind.', 'fly: Wings: how', 'Paddle.']) expect(prompt).toContain(told);
    expect(prompt).not.toContain('Never told.');
    const [finding, ...others] = await harness.eventsOf('ConversationErrorEvent');
    expect(finding).toMatchObject({ code: 'SurfaceUnreadable' });
    expect(finding?.['detail']).toMatch(
      /^"\.openhands\/microagents\/broken\.md" is not used as a skill: its head cannot be read/,
    );
    expect(others).toEqual([]);
    const { body } = await harness.call('POST /api/skills', { json: { project_dir: workspace } });
    const info = (await harness.at('GET ?include_skills=true')).body as { agent: { agent_context: object } };
    expect(info.agent.agent_context).toMatchObject({ skills: body['skills'] });
    expect(await harness.call('POST /api/hooks', { json: {} })).toMatchObject({
      body: { hook_config: (info as object as { hook_config: object }).hook_config },
    });
  });

  it('that is not asked for brings nothing', async () => {
    const harness = await Harness.start();
    write(harness.workspace, { 'AGENTS.md': 'Be kind.', '.openhands/hooks.json': JSON.stringify(deny('*')) });
    harness.llm.script([toolCalls(['finish', { message: 'end' }])]);
    await harness.run('go');
    await harness.reaches('finished');
    expect(JSON.stringify(harness.llm.requests[0]?.body.messages)).not.toContain('Be kind.');
    expect(await harness.eventsOf('HookExecutionEvent')).toEqual([]);
  });

  it('has what a hook adds told to the model', async () => {
    const harness = await Harness.start();
    const say = (text: string) => [{ hooks: [{ command: `echo '{"additionalContext": "${text}"}'` }] }];
    const hooks = { UserPromptSubmit: say('branch is main'), PostToolUse: say('tests are red') };
    harness.llm.script([toolCalls(['think', { thought: 'a' }], ['think', { thought: 'b' }]), reply('end')]);
    await harness.run('go', { hook_config: hooks });
    await harness.reaches('finished');
    expect(JSON.stringify(harness.llm.requests[0]?.body.messages)).toContain('branch is main');
    expect(JSON.stringify(harness.llm.requests[1]?.body.messages).match(/tests are red/g)).toHaveLength(2);
  });

  it.each([
    ['is no JSON', '{', 'is no JSON object'],
    ['is a list', '[]', ''],
    [
      'has a time that is none',
      '{"stop": [{"hooks": [{"command": "x", "timeout": "long"}]}]}',
      'stop.0.hooks.0.timeout',
    ],
    ['is no text', Buffer.from([0xff, 0xfe, 0x7b]), 'no UTF-8'],
  ])('whose hooks cannot be read because it %s has none', async (_why, text, says) => {
    const { hooks, findings } = await workspaceHooks(write(tempDir(), { '.openhands/hooks.json': text }));
    if (says === '') expect(hooks?.stop ?? []).toEqual([]);
    else {
      expect(hooks).toBeNull();
      expect(findings.join()).toContain(says);
    }
  });

  it('lists no hook that would not be run', async () => {
    const command = { hooks: [{ command: 'true' }] };
    const file = {
      pre_tool_use: [
        { matcher: '/term.*/', ...command },
        { matcher: '(', ...command },
        { hooks: [{ type: 'prompt' }, { command: ' ' }, { command: 'false' }] },
      ],
      PreToolUze: [command],
    };
    const folder = write(tempDir(), { '.openhands/hooks.json': JSON.stringify(file) });
    const { hooks, findings } = await workspaceHooks(folder);
    expect(
      hooks?.pre_tool_use.map(({ matcher, hooks: each }) => [matcher, each.map((one) => one.command)]),
    ).toEqual([
      ['/term.*/', ['true']],
      ['*', ['false']],
    ]);
    expect(findings).toHaveLength(4);
    for (const word of ['"PreToolUze"', '"("', '"prompt"', 'without a command'])
      expect(findings.some((finding) => finding.includes(word))).toBe(true);
  });

  it('has links inside followed, and every other file that is no skill named', async () => {
    const outside = write(tempDir(), { 'secret.md': 'Outside.' });
    const folder = write(tempDir(), {
      'docs/rules.md': 'Rules.',
      '.openhands/skills/README.md': 'About.',
      '.openhands/skills/twice.md': 'Second.',
      '.agents/skills/twice/skill.md': '---\nname: twice\n---\nFirst.',
      '.agents/skills/twice/references/more.md': 'No skill of its own.',
      '.openhands/skills/binary.md': Buffer.from([0xff, 0xfe, 0x00]),
      '.openhands/skills/large.md': 'x'.repeat(256 * 1024 + 1),
    });
    symlinkSync('docs/rules.md', path.join(folder, 'AGENTS.md'));
    symlinkSync('../../docs/rules.md', path.join(folder, '.openhands/skills/linked.md'));
    symlinkSync(path.join(outside, 'secret.md'), path.join(folder, '.openhands/skills/leak.md'));
    symlinkSync('nowhere', path.join(folder, '.openhands/skills/dangling.md'));
    const { skills, findings } = await workspaceSkills(folder);
    expect(skills.map(({ name, content }) => [name, content])).toEqual([
      ['AGENTS', 'Rules.'],
      ['twice', 'First.'],
      ['linked', 'Rules.'],
    ]);
    expect(
      findings.map((finding) => /^"\.openhands\/skills\/(\w+)\.md" is not used/.exec(finding)?.[1]).sort(),
    ).toEqual(['binary', 'dangling', 'large', 'leak', 'twice']);
  });

  it('of too many or too large skills says so', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 105 }, (_, at) => [`.agents/skills/s${at}/SKILL.md`, 'x'.repeat(12_000)]),
    );
    const { skills, findings } = await workspaceSkills(write(tempDir(), many));
    expect(skills).toHaveLength(87);
    expect(findings.filter((finding) => finding.includes('more than 100 skills'))).toHaveLength(1);
    expect(findings.filter((finding) => finding.includes('together they have'))).toHaveLength(13);
  });
});
