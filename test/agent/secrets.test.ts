/** Secrets reach the shell and nothing else. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { Harness, LLM_KEY, SESSION_KEY, userMessage } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';

const SECRET = `p@ss "word" with/all+kinds=of&things \u00e9 ${'long '.repeat(20)}`;

const FORMS = [
  SECRET,
  JSON.stringify(SECRET).slice(1, -1),
  Buffer.from(SECRET).toString('base64'),
  Buffer.from(SECRET).toString('base64').slice(0, 60),
  encodeURIComponent(SECRET),
  LLM_KEY,
  SESSION_KEY,
];

function filesUnder(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });
}

describe('secrets', () => {
  it('are in the environment before the first action and nowhere on disk, in events, logs or answers', async () => {
    const harness = await Harness.start();
    const print =
      'printf "%s\\n" "$TOKEN"; printf %s "$TOKEN" | base64; printf "user:%s" "$TOKEN" | base64 -w0; echo';
    harness.llm.script([
      toolCalls(['terminal', { command: `test -n "$TOKEN" && echo present; ${print}` }]),
      toolCalls(['terminal', { command: `env | grep -c -e OH_ -e PARLEY_; echo "${'${LATE:-none}'}"` }]),
      toolCalls(['terminal', { command: `echo ${LLM_KEY} ${encodeURIComponent(SECRET)}` }]),
      toolCalls(['terminal', { command: 'no such', timeout: -1 }]),
      reply(`the secret is ${SECRET}`),
    ]);
    const secrets = { TOKEN: { kind: 'StaticSecret', value: SECRET }, TINY: 'abc' };
    await harness.run(`use ${SECRET}`, { secrets, title: SECRET.slice(0, 190) });
    await harness.reaches('finished');
    const echoed = await harness.call('POST /api/bash/execute_bash_command', {
      json: { command: `printf %s ${Buffer.from(SECRET).toString('base64')}` },
    });
    expect(echoed.body['stdout']).toBe('<secret-hidden>');

    const observations = await harness.eventsOf('ObservationEvent');
    const [first, second] = observations.map((event) => JSON.stringify(event['observation']));
    expect(first).toContain('present');
    expect(first).toContain('<secret-hidden>');
    expect(second).toContain('"0\\nnone"');
    const told = [
      ...filesUnder(harness.conversationsDir).map((path) => readFileSync(path, 'utf8')),
      JSON.stringify(await harness.events()),
      JSON.stringify((await harness.at('GET ')).body),
      JSON.stringify(harness.llm.requests.map((request) => request.body)),
      ...harness.logLines,
    ].join('\n');
    for (const form of FORMS) expect(told).not.toContain(form);
    expect(told).toContain('<secret-hidden>');
  });

  it('posted later reach a shell that is open', async () => {
    const harness = await Harness.start();
    harness.llm.script([
      toolCalls(['terminal', { command: 'KEPT=yes; echo "${LATE:-none}"' }]),
      reply('one'),
    ]);
    await harness.run('go');
    await harness.reaches('finished');
    expect((await harness.at('POST /secrets', { secrets: { LATE: "it's late" } })).status).toBe(200);
    harness.llm.script([
      toolCalls(['terminal', { command: 'test "$LATE" = "it\'s late" && echo "same $KEPT"' }]),
      reply('two'),
    ]);
    await harness.at('POST /events', userMessage('again', true));
    await harness.reaches('finished');
    const texts = (await harness.eventsOf('ObservationEvent')).map((event) => event['observation']);
    expect(texts).toMatchObject([{ content: [{ text: 'none' }] }, { content: [{ text: 'same yes' }] }]);
  });

  it('run as written even when their value is a common word', async () => {
    const harness = await Harness.start();
    harness.llm.script([
      toolCalls(['terminal', { command: 'echo terminal > agent; cat agent' }]),
      reply('end'),
    ]);
    await harness.run('go', { secrets: { USER_NAME: 'agent', TOOL: 'terminal', STATE: 'running' } });
    await harness.reaches('finished');
    expect(readFileSync(join(harness.workspace, 'agent'), 'utf8')).toBe('terminal\n');
    const [action] = await harness.eventsOf('ActionEvent');
    expect(action).toMatchObject({
      source: 'agent',
      tool_name: 'terminal',
      action: { command: 'echo <secret-hidden> > <secret-hidden>; cat <secret-hidden>' },
    });
  });

  it('are refused under names no shell has', async () => {
    const harness = await Harness.start();
    await harness.call('POST /api/conversations', { json: harness.startBody() });
    const refused = await harness.at('POST /secrets', { secrets: { 'no-name': 'value-of-it' } });
    expect(refused.status).toBe(422);
    expect(JSON.stringify(refused.body)).not.toContain('value-of-it');
  });
});
