/** What a workspace brings, questions aside, summaries, the risk analyser and another model. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { FileFinding, parseSkill } from '../../agent/skill-file.ts';
import { Harness, LLM_KEY, userMessage, PATIENT } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';

function write(folder: string, name: string, text: string): void {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), text);
}

describe('a workspace', () => {
  it('tells its skills and hooks', async () => {
    const harness = await Harness.start();
    const { workspace } = harness;
    write(workspace, 'AGENTS.md', 'Be kind.');
    write(workspace, '.agents/skills/fly/SKILL.md', '---\nname: fly\ndescription: How to fly.\n---\nFlap.');
    write(workspace, '.openhands/skills/swim.md', '---\ntriggers: [swim]\n---\nPaddle.');
    write(workspace, '.openhands/hooks.json', '{"hooks": {"Stop": [{"hooks": [{"command": "true"}]}]}}');
    const { body } = await harness.call('POST /api/skills', { json: { project_dir: workspace } });
    expect(body).toMatchObject({
      skills: [
        { name: 'AGENTS', type: 'repo', content: 'Be kind.' },
        { name: 'fly', type: 'agentskills', content: 'Flap.', description: 'How to fly.' },
        { name: 'swim', type: 'knowledge', triggers: ['swim'], content: 'Paddle.' },
      ],
      sources: { project: 3 },
    });
    const hooks = await harness.call('POST /api/hooks', { json: { project_dir: workspace } });
    expect(hooks.body).toMatchObject({
      hook_config: { stop: [{ matcher: '*', hooks: [{ command: 'true' }] }] },
    });
    write(workspace, '.openhands/hooks.json', '{');
    expect((await harness.call('POST /api/hooks')).status).toBe(400);
    expect((await harness.call('POST /api/skills', { json: { project_dir: 'near' } })).status).toBe(422);
    expect((await harness.call('GET /api/tools/')).body).toContain('terminal');
  });

  it('offers a skill of a request by its description only where it has a file', async () => {
    const harness = await Harness.start();
    const offered = { content: 'Flap.', description: 'How to fly.', is_agentskills_format: true };
    const skills = [
      { name: 'here', ...offered, source: '/skills/here/SKILL.md' },
      { name: 'nowhere', ...offered },
      { name: 'word', content: 'Sing.', trigger: { type: 'keyword', keywords: ['sing'] } },
    ];
    harness.llm.script([reply('done')]);
    const body = harness.startBody({ initial_message: userMessage('sing', true) });
    const agent = { ...(body['agent'] as object), agent_context: { skills } };
    await harness.call('POST /api/conversations', { json: { ...body, agent } });
    await harness.reaches('finished');
    const [system, first] = harness.llm.requests[0]?.body.messages ?? [];
    expect(system?.content).toContain('- here: How to fly. (/skills/here/SKILL.md)');
    expect(system?.content).toContain('<skill name="nowhere">\nFlap.');
    expect(first?.content).toContain('Sing.');
    const info = (await harness.at('GET ?include_skills=true')).body;
    expect(info).toMatchObject({
      agent: {
        agent_context: { skills: [{ type: 'agentskills' }, { name: 'nowhere' }, { triggers: ['sing'] }] },
      },
    });
    expect((await harness.at('GET ')).body).toMatchObject({ agent: { agent_context: { skills: [] } } });
  });
});

describe('a file of a skill', () => {
  it.each([
    ['/a/b.md', 'text', { name: 'b', content: 'text', triggers: [], description: null }],
    ['/a/b/SKILL.md', 'text', { name: 'b', description: 'b' }],
    ['/a/b/skill.md', 'text', { name: 'b', description: 'b' }],
    ['/a/b.md', '---\nname: c\n---\ntext', { name: 'c', content: 'text' }],
    // A colon, an at sign, a star and a hash are no text for YAML.
    ['/a/b/SKILL.md', '---\ndescription: Use it: now\n---\nx', { description: 'Use it: now', name: 'b' }],
    ['/a/b/SKILL.md', "---\ndescription: @acme's *best*\n---\nx", { description: "@acme's *best*" }],
    ['/a/b/SKILL.md', '---\ndescription: "a: b"\n---\nx', { description: 'a: b' }],
    ['/a/b/SKILL.md', '---\ndescription: >\n  a\n  b\n---\nx', { description: 'a b' }],
    ['/a/b.md', '---\ntriggers: word\n---\ntext', { triggers: ['word'] }],
    ['/a/b.md', '---\ntriggers: two words\n---\ntext', { triggers: ['two words'] }],
    ['/a/b.md', '---\ntriggers: [a, "b c"]\n---\ntext', { triggers: ['a', 'b c'] }],
    ['/a/b.md', '---\ntriggers:\n- a: b\n- c\n---\ntext', { triggers: ['a: b', 'c'] }],
    ['/a/b.md', '---\ntriggers: 404\n---\ntext', { triggers: ['404'] }],
    [
      '/a/b.md',
      '---\ntriggers: [1.10, 007, yes, 0x1F]\n---\nx',
      { triggers: ['1.10', '007', 'yes', '0x1F'] },
    ],
    ['/a/b.md', '---\nname: 12\nTriggers:\n  - a\n---\nx', { name: '12', triggers: ['a'] }],
    ['/a/b.md', '---\ntriggers:\nname: null\n---\nx', { name: 'b', triggers: [] }],
    ['/a/b.md', '---\n{name: c, triggers: [a]}\n---\nx', { name: 'c', triggers: ['a'] }],
    ['/a/b.md', '\uFEFF---\nname: c\n---\ntext', { name: 'c', content: 'text' }],
    [
      '/a/b.md',
      '---\r\nname: c\r\ntriggers:\r\n  - a\r\n---\r\ntext',
      { name: 'c', triggers: ['a'], content: 'text' },
    ],
    ['/a/b.md', '\uFEFF---\r\ntriggers: a: b\r\n---\r\ntext', { triggers: ['a: b'], content: 'text' }],
    ['/a/b.md', '---  \nname: c\n--- \ntext', { name: 'c', content: 'text' }],
    ['/a/b.md', '---\nname: c\n---', { name: 'c', content: '' }],
    // A rule of the text.
    ['/a/b.md', '---\n\nSome text', { content: '---\n\nSome text' }],
    ['/a/b.md', '---\nSome text\n---\nmore', { content: '---\nSome text\n---\nmore' }],
  ])('%s: %j', async (file, text, skill) => {
    expect(await parseSkill(file, text)).toMatchObject(skill);
  });

  it.each([
    ['---\nname: c\n: [\n---\ntext', 'its head cannot be read'],
    ['---\ntriggers: {a: b}\n---\ntext', '"triggers" is not what it should be'],
    ['---\ntriggers: [[a]]\n---\ntext', '"triggers'],
    ['---\nname: c\nname: d\n---\ntext', 'Map keys must be unique'],
    ['---\nname: c\ntriggers: [a\n---\ntext', 'its head cannot be read'],
    ['---\nname: c\ntriggers: [a]\n\ntext', 'its head has no second line of dashes'],
    [`---\nname: ${'n'.repeat(201)}\n---\ntext`, '"name"'],
  ])('that cannot be read is none: %j', async (text, why) => {
    const error: unknown = await parseSkill('/a/b.md', text).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FileFinding);
    expect((error as FileFinding).message).toContain(why);
  });
});

describe('a question aside', () => {
  it('is answered without a trace but for its cost', async () => {
    const harness = await Harness.start();
    harness.llm.script([reply('done'), reply('half way')]);
    await harness.run('go');
    await harness.reaches('finished');
    const before = (await harness.events()).length;
    expect((await harness.at('POST /ask_agent', { question: 'how far?' })).body).toEqual({
      response: 'half way',
    });
    expect((await harness.events()).slice(before)).toMatchObject([{ key: 'stats' }]);
    expect(harness.llm.requests[1]?.body.messages.at(-1)?.content).toContain('how far?');
    expect((await harness.at('POST /ask_agent', { question: '' })).status).toBe(422);
    expect((await harness.at('POST /ask_agent', { question: 'and now?' })).status).toBe(502);
  });
});

describe('condensation', () => {
  it('replaces older steps by what the model says of them, and never a message of the user', async () => {
    const harness = await Harness.start();
    const steps = Array.from({ length: 6 }, (_, at) => toolCalls(['think', { thought: `step ${at}` }]));
    harness.llm.script([...steps, reply('done'), reply('THE SUMMARY'), reply('more')]);
    await harness.run('the task');
    await harness.reaches('finished');
    expect((await harness.at('POST /condense')).status).toBe(200);
    const [condensation] = await harness.eventsOf('Condensation');
    expect(condensation).toMatchObject({ summary: 'THE SUMMARY', summary_offset: 2 });
    await harness.at('POST /events', userMessage('go on', true));
    await expect.poll(() => harness.llm.requests.length, PATIENT).toBe(9);
    await harness.reaches('finished');
    const last = JSON.stringify(harness.llm.requests.at(-1)?.body.messages);
    expect(['the task', 'THE SUMMARY', 'step 5', 'go on'].every((text) => last.includes(text))).toBe(true);
    expect(last).not.toContain('step 0');
  });
});

describe('the risk analyser and the model', () => {
  it('without an analyser every risk is unknown', async () => {
    const harness = await Harness.start();
    harness.llm.script([toolCalls(['terminal', { command: 'true', security_risk: 'LOW' }]), reply('end')]);
    const policy = { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: true };
    await harness.call('POST /api/conversations', {
      json: harness.startBody({ confirmation_policy: policy }),
    });
    expect((await harness.at('GET ')).body['security_analyzer']).toEqual({ kind: 'LLMSecurityAnalyzer' });
    await harness.at('POST /security_analyzer', { security_analyzer: null });
    await harness.at('POST /events', userMessage('go', true));
    await harness.reaches('waiting_for_confirmation');
    const unknown = { security_analyzer: { kind: 'OtherAnalyzer' } };
    expect((await harness.at('POST /security_analyzer', unknown)).status).toBe(422);
  });

  it('takes another model for the next step, without the key and headers of the one before', async () => {
    const harness = await Harness.start();
    harness.llm.script([reply('one'), reply('two')]);
    await harness.run('go', {}, { extra_headers: { 'x-old': 'yes' } });
    await harness.reaches('finished');
    const llm = { model: 'openai/other', base_url: harness.llm.baseUrl, api_key: `${LLM_KEY}-2` };
    expect((await harness.at('POST /switch_llm', { llm })).status).toBe(200);
    await harness.at('POST /events', userMessage('more', true));
    await expect.poll(() => harness.llm.requests.length, PATIENT).toBe(2);
    expect(harness.llm.requests[1]?.body.model).toBe('other');
    expect(harness.llm.requests[1]?.headers['authorization']).toBe(`Bearer ${LLM_KEY}-2`);
    expect(harness.llm.requests[1]?.headers['x-old']).toBeUndefined();
  });
});
