/** Plugins from folders and repositories, their skills and commands, and tool servers on pipes and over HTTP. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { describe, expect, it, onTestFinished } from 'vitest';

import { endProcess } from '../helpers/end-process.ts';
import { CONVERSATION_ID, Harness, git, userMessage, PATIENT } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';

const SERVER = path.join(import.meta.dirname, 'tool-server.js');
const SECRET = 'plugin-secret-value';

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

function stdioConfig(env: Readonly<Record<string, string>>): string {
  return JSON.stringify({ mcpServers: { tools: { command: process.execPath, args: [SERVER], env } } });
}

/** A plugin with everything a plugin may have. */
function makePlugin(folder: string): void {
  write(folder, {
    '.claude-plugin/plugin.json': '{"name": "review", "version": "1.0.0"}',
    'skills/style/SKILL.md': '---\nname: style\ndescription: How code looks here.\n---\nUse tabs.',
    'skills/release/SKILL.md': '---\nname: release\ntriggers:\n  - make a release\n---\nTag it first.',
    'commands/check.md': '---\ndescription: Checks.\n---\nRun every check.',
    '.mcp.json': stdioConfig({ WHO: '${TOKEN}' }),
  });
}

const toolNames = (harness: Harness, at: number): string[] =>
  (harness.llm.requests[at]?.body.tools ?? []).map((tool) => tool.function.name);

const observations = async (harness: Harness): Promise<unknown[]> =>
  (await harness.eventsOf('ObservationEvent')).map((event) => event['observation']);

describe('a plugin', () => {
  it('brings its tools, called by the model with secrets in its configuration, and its skills', async () => {
    const harness = await Harness.start();
    const folder = path.join(harness.folder, 'plugins/review');
    makePlugin(folder);
    harness.llm.script([
      toolCalls(['count', { text: 'abcd', security_risk: 'LOW' }], ['whoami', {}], ['fail', {}]),
      toolCalls(['finish', { message: 'done' }]),
    ]);
    const started = await harness.run('please make a release, /review:check', {
      plugins: [{ source: path.dirname(folder), repo_path: 'review' }],
      secrets: { TOKEN: SECRET },
    });
    expect(started.status).toBe(201);
    await harness.reaches('finished');
    expect(toolNames(harness, 0)).toEqual(expect.arrayContaining(['terminal', 'count', 'whoami', 'fail']));
    expect(await observations(harness)).toMatchObject([
      { kind: 'MCPToolObservation', tool_name: 'count', content: [{ text: '4 letters' }], is_error: false },
      { content: [{ text: '<secret-hidden>' }] },
      { content: [{ text: 'it broke' }], is_error: true },
      { kind: 'FinishObservation' },
    ]);
    const [action] = await harness.eventsOf('ActionEvent');
    expect(action?.['action']).toEqual({ kind: 'MCPToolAction', data: { text: 'abcd' } });
    const [system, user] = harness.llm.requests[0]?.body.messages ?? [];
    expect(system?.content).toContain(`style: How code looks here. (${folder}/skills/style/SKILL.md)`);
    expect(user?.content).toContain('Tag it first.');
    expect(user?.content).toContain('Run every check.');
    const info = (await harness.at('GET ')).body;
    expect(info['activated_knowledge_skills']).toEqual(['release', '/review:check']);
    const kept = path.join(harness.conversationsDir, CONVERSATION_ID.replaceAll('-', ''));
    for (const name of readdirSync(kept))
      expect(readFileSync(path.join(kept, name), 'utf8')).not.toContain(SECRET);
  });

  it('is cloned from a repository at a ref, and a skill is shown once', async () => {
    const harness = await Harness.start();
    const repository = path.join(harness.folder, 'origin');
    makePlugin(repository);
    git(repository, 'init', '-q', '-b', 'main');
    git(repository, 'add', '-A');
    git(repository, '-c', 'user.name=a', '-c', 'user.email=b', 'commit', '-q', '-m', 'x');
    git(repository, 'tag', 'v1');
    harness.llm.script([reply('one'), reply('two')]);
    const plugins = [{ source: `file://${repository}`, ref: 'v1' }];
    await harness.run('make a release', { plugins, secrets: { TOKEN: SECRET } });
    await harness.reaches('finished');
    await harness.at('POST /events', userMessage('make a release again', true));
    await expect.poll(() => harness.llm.requests.length, PATIENT).toBe(2);
    await harness.reaches('finished');
    const texts = harness.llm.requests[1]?.body.messages.map(({ content }) => String(content)).join('\n');
    expect(texts?.split('Tag it first.').length).toBe(2);
  });

  it.each([
    ['a folder without one', () => [{ source: '/' }], 'there is none in this folder'],
    ['a folder that does not exist', () => [{ source: '/no/such/folder' }], 'there is no folder'],
    ['no place at all', () => [{ source: 'what is this' }], 'no path and no address'],
    ['a way out of the repository', () => [{ source: '/tmp', repo_path: '../etc' }], 'cannot contain'],
    ['an address with a credential', () => [{ source: 'file://me:pw-secret@/nowhere' }], '//****@'],
  ])('that is %s refuses the start', async (_what, plugins, words) => {
    const harness = await Harness.start();
    const answer = await harness.call('POST /api/conversations', {
      json: harness.startBody({ plugins: plugins() }),
    });
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toContain(words);
    expect(JSON.stringify(answer.body)).not.toContain('pw-secret');
    expect((await harness.call('GET /api/conversations/count')).body).toBe(0);
  });

  it('whose placeholder no secret fills refuses a start that says that all are there, and names it (D20)', async () => {
    const harness = await Harness.start();
    const folder = path.join(harness.folder, 'plugin');
    makePlugin(folder);
    const start = (changes: object) =>
      harness.call('POST /api/conversations', {
        json: harness.startBody({ plugins: [{ source: folder }], secrets_complete: true, ...changes }),
      });
    const refused = await start({ secrets: { OTHER: SECRET } });
    expect(refused.status).toBe(422);
    expect(JSON.stringify(refused.body)).toContain('there is no secret \\"TOKEN\\"');
    expect(JSON.stringify(refused.body)).not.toContain(SECRET);
    expect((await start({ secrets: { TOKEN: SECRET } })).status).toBe(201);
  });

  it('reads nothing through a link that leads out of it', async () => {
    const harness = await Harness.start();
    const folder = path.join(harness.folder, 'plugin');
    write(folder, { 'plugin.json': '{"name":"links"}', 'skills/a/SKILL.md': 'inside' });
    write(harness.folder, { 'outside/SKILL.md': 'from outside' });
    symlinkSync(path.join(harness.folder, 'outside'), path.join(folder, 'skills/b'));
    harness.llm.script([reply('one')]);
    await harness.run('go', { plugins: [{ source: folder }] });
    await harness.reaches('finished');
    const system = String(harness.llm.requests[0]?.body.messages[0]?.content);
    expect([system.includes('skills/a/SKILL.md'), system.includes('skills/b')]).toEqual([true, false]);
  });
});

/** The tool server over HTTP; its address. */
async function serveHttp(authorization: string): Promise<string> {
  const child = spawn(process.execPath, [SERVER, '--http', authorization], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => endProcess(child));
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return `http://127.0.0.1:${port}/mcp`;
}

describe('tool servers of a request', () => {
  it('are called over HTTP with a header from a secret, beside one on pipes', async () => {
    const harness = await Harness.start();
    const url = await serveHttp(`Bearer ${SECRET}`);
    harness.llm.script([
      toolCalls(['web_count', { text: 'abc' }], ['near_whoami', {}]),
      toolCalls(['finish', { message: 'done' }]),
    ]);
    const body = harness.startBody({ secrets: { TOKEN: SECRET } });
    const servers = {
      web: { url, headers: { Authorization: 'Bearer ${TOKEN}' } },
      near: { command: process.execPath, args: [SERVER], env: { WHO: '${NAME:-somebody}' } },
    };
    const agent = { ...(body['agent'] as object), mcp_config: servers };
    await harness.call('POST /api/conversations', { json: { ...body, agent } });
    await harness.at('POST /events', userMessage('go', true));
    await harness.reaches('finished');
    expect(await observations(harness)).toMatchObject([
      { content: [{ text: '3 letters' }] },
      { content: [{ text: 'somebody' }] },
      { kind: 'FinishObservation' },
    ]);
  });

  it.each([
    ['a secret that is not there', { command: 'true', env: { WHO: '${ABSENT}' } }, 'no secret "ABSENT"'],
    ['a program that is not there', { command: '/no/such/program' }, 'ENOENT'],
    ['an address that refuses', { url: 'http://127.0.0.1:1/mcp' }, 'tools'],
  ])('end the run as an error for %s, and the next run tries again', async (_what, server, words) => {
    const harness = await Harness.start();
    const body = harness.startBody();
    const agent = { ...(body['agent'] as object), mcp_config: { tools: server } };
    await harness.call('POST /api/conversations', { json: { ...body, agent } });
    await harness.at('POST /events', userMessage('go', true));
    await harness.reaches('error');
    const [error] = await harness.eventsOf('ConversationErrorEvent');
    expect(error).toMatchObject({ code: 'MCPConnectionError' });
    expect(String(error?.['detail'])).toContain(words);
    expect(harness.llm.requests).toEqual([]);
  });

  it('keep no literal credential over a restart, and take it from the request again', async () => {
    const harness = await Harness.start();
    const body = harness.startBody();
    const server = {
      command: process.execPath,
      args: [SERVER],
      env: { WHO: 'me', API_KEY: 'literal-value' },
    };
    const json = { ...body, agent: { ...(body['agent'] as object), mcp_config: { tools: server } } };
    harness.llm.script([reply('one'), toolCalls(['whoami', {}]), reply('two')]);
    await harness.call('POST /api/conversations', { json });
    await harness.at('POST /events', userMessage('go', true));
    await harness.reaches('finished');
    await harness.stop();
    await harness.startServer();
    await harness.at('POST /events', userMessage('again', true));
    await harness.reaches('error');
    await harness.call('POST /api/conversations', { json });
    await harness.at('POST /run');
    await harness.reaches('finished');
    expect(await observations(harness)).toMatchObject([{ content: [{ text: 'me' }] }]);
  });
});
