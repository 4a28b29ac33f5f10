/** `parley mcp` on pipes: a whole batch and a conversation, by the client of the protocol's own library. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { TOKEN } from '../../e2e/batch-copy.ts';
import { startProgram } from '../../e2e/running-program.ts';
import { call, mcpBatch, pipeClient } from './mcp-batch.ts';

const MS_MAX = 600_000;

it(
  'lists its tools, looks at a job, runs it to its end with signs of life, and reads what it made',
  async () => {
    const batch = await mcpBatch();
    const client = await pipeClient(batch);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['start', 'events', 'send', 'plan', 'run', 'status', 'results', 'cancel'],
    ]);
    expect(
      tools.filter(({ annotations }) => annotations?.readOnlyHint === true).map(({ name }) => name),
    ).toEqual([...['events', 'plan', 'status', 'results']]);
    expect(tools.filter(({ annotations }) => annotations?.destructiveHint === true)).toHaveLength(1);
    const plan = await call(client, 'plan', { file: 'job.yaml', preflight: true });
    expect(plan.data).toMatchObject({ name: 'first-batch', total: 3, concurrency: 2 });
    const said: string[] = [];
    const run = await call(
      client,
      'run',
      { file: 'job.yaml', run_id: 'by-tool', only: 'esm-entry', wait: 'done' },
      { onProgress: (message) => said.push(message) },
    );
    expect(run.data, run.text).toMatchObject({
      run: { id: 'by-tool', phase: 'finished', ended: { succeeded: 1 } },
      timed_out: false,
    });
    expect(said.length).toBeGreaterThan(0);
    expect(said.filter((one) => !/^by-tool \w+: \d of 1 ended, \d in flight$/.test(one))).toEqual([]);
    const { data } = await call(client, 'status', { run_id: 'by-tool' });
    const [item] = data['items'] as readonly { readonly conversation_id: string }[];
    const id = item?.conversation_id ?? '';
    const first = await call(client, 'events', { conversation_id: id, limit: 3 });
    expect(first.data).toMatchObject({
      next: 3,
      more: true,
      events: [{ number: 1 }, { number: 2 }, { number: 3 }],
    });
    const second = await call(client, 'events', { conversation_id: id, after: 3, max_bytes: 2_048 });
    expect(second.text.length).toBeLessThan(4_096);
    expect(second.data).toMatchObject({ more: true });
    const files = await call(client, 'results', { run_id: 'by-tool' });
    const names = (files.data['files'] as readonly { readonly name: string }[]).map(({ name }) => name);
    const patch = names.find((name) => name.endsWith('.patch')) ?? '';
    const read = await call(client, 'results', { run_id: 'by-tool', name: patch, max_bytes: 1_024 });
    expect(read.data['text']).toContain('index.mjs');
    const again = await call(client, 'run', { file: 'job.yaml', run_id: 'by-tool', only: 'esm-entry' });
    expect(again.data, again.text).toMatchObject({ run: { id: 'by-tool', phase: 'finished' } });
  },
  MS_MAX,
);

it(
  'answers mistakes with a remedy, gives no secret away, and goes on',
  async () => {
    const batch = await mcpBatch();
    const { copy, gateway } = batch;
    writeFileSync(path.join(copy.root, 'outside.yaml'), 'kind: job\n');
    writeFileSync(
      path.join(copy.example, 'broken.yaml'),
      'kind: job\nversion: 1\nname: broken\nconversation: []\n',
    );
    const client = await pipeClient(batch);
    const inline = (extra: string): string =>
      `kind: job\nversion: 1\nname: inline\ndefaults: { model: coder }\n${extra}`;
    const wrong: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
      ['status', { run_id: 'none' }, 'Code: not_found'],
      ['status', { run_id: 'a', conversation_id: '0'.repeat(32) }, 'not both'],
      ['events', { conversation_id: '0'.repeat(32) }, 'Cannot find the conversation'],
      ['events', { conversation_id: 'x' }, 'its arguments do not fit'],
      ['events', { conversation: 'x' }, 'Remedy: it takes conversation_id, after, limit, kinds, max_bytes'],
      ['plan', {}, 'give "file" or "job", and not both'],
      ['plan', { file: '../../outside.yaml' }, 'below the folder of jobs'],
      ['plan', { file: 'broken.yaml' }, 'broken.yaml:4:1'],
      [
        'plan',
        { job: inline('conversations: [{ id: a, prompt: { file: ../../outside.yaml } }]\n') },
        'outside.yaml',
      ],
      [
        'run',
        {
          job: inline(
            'secrets: { key: { from: env, name: PARLEY_GATEWAY_KEY } }\nconversations: [{ id: a, prompt: Go., secrets: { KEY: key } }]\n',
          ),
        },
        'Cannot take the secret "key"',
      ],
      [
        'plan',
        {
          // It would be sent to a code host while the plan is made.
          job: inline(
            'secrets: { key: { from: env, name: PARLEY_GATEWAY_KEY } }\nconversations: [{ id: a, prompt: Go., items: { gitea: { repository: a/b, token: { secret: key } } } }]\n',
          ),
        },
        'Cannot take the secret "PARLEY_GATEWAY_KEY"',
      ],
      ['start', { message: ' ' }, 'Input should have text'],
      ['cancel', {}, 'Cannot tell what to end'],
    ];
    for (const [name, args, expected] of wrong) {
      const { isError, text } = await call(client, name, args);
      expect(text, `${name} ${JSON.stringify(args)}`).toContain(expected);
      expect(isError).toBe(true);
      for (const secret of [TOKEN, gateway.env['PARLEY_GATEWAY_KEY'] ?? '?'])
        expect(text).not.toContain(secret);
    }
    await expect(call(client, 'delete_everything')).rejects.toThrow('There is no tool');
    expect((await call(client, 'status')).data).toEqual({ conversations: [], runs: [], next_cursor: null });
  },
  MS_MAX,
);

it(
  'starts a conversation, waits for the end of its work, and gives neither its key nor its address away; a call that is given up ends nothing',
  async () => {
    const batch = await mcpBatch();
    // Another run owns the data directory, and ends before the tools do.
    const owner = startProgram(
      batch.copy,
      'bin/parley.js',
      ['run', 'job.yaml', '--only', 'esm-entry', '--plain'],
      batch.gateway.env,
    );
    await owner.says(/esm-entry: /);
    const client = await pipeClient(batch);
    const message = 'Add an ES module entry to this package.';
    const started = await call(client, 'start', {
      message,
      repository: 'npm/ms',
      model: 'coder',
      wait: 'ready',
    });
    expect(started.data, started.text).toMatchObject({
      conversation: { start_task_status: 'READY' },
      timed_out: false,
    });
    expect(started.text).not.toMatch(/session_api_key|conversation_url|agent_server_url/);
    const { id } = started.data['conversation'] as { readonly id: string };
    expect((await owner.ended).code).toBe(0);
    const left = new AbortController();
    const waiting = call(
      client,
      'send',
      { conversation_id: id, message: 'Go on.', wait: 'done' },
      { signal: left.signal, onProgress: () => left.abort(new Error('left')) },
    );
    await expect(waiting).rejects.toThrow('left');
    const seen = await call(client, 'events', { conversation_id: id, kinds: ['MessageEvent'], limit: 500 });
    expect(seen.text).toContain(message);
    const stopped = await call(client, 'cancel', { conversation_id: id });
    expect(stopped.data, stopped.text).toEqual({ accepted: true });
    const changed = await call(client, 'results', { conversation_id: id });
    expect(changed.isError, changed.text).toBe(false);
  },
  MS_MAX,
);
