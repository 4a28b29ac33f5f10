/** Commands in the background: their start, their output, their stop, and what is kept of them. */
import { describe, expect, it } from 'vitest';

import { Harness, PATIENT } from './harness.ts';

interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly next_page_id: string | null;
}

async function start(harness: Harness, command: string, timeout = 60): Promise<string> {
  const answer = await harness.call<{ id: string }>('POST /api/bash/start_bash_command', {
    json: { command, timeout },
  });
  expect(answer.body).toMatchObject({ kind: 'BashCommand', timeout, cwd: harness.workspace });
  return answer.body.id;
}

async function outputOf(harness: Harness, id: string): Promise<Readonly<Record<string, unknown>>> {
  const query = `kind__eq=BashOutput&command_id__eq=${id}&order__gt=-1&sort_order=TIMESTAMP&limit=100`;
  let page: Page = { items: [], next_page_id: null };
  await expect
    .poll(async () => {
      page = (await harness.call<Page>(`GET /api/bash/bash_events/search?${query}`)).body;
      return page.items.length;
    }, PATIENT)
    .toBe(1);
  return page.items[0] ?? {};
}

describe('a command in the background', () => {
  it('answers at once, and its output is found by its id', async () => {
    const harness = await Harness.start();
    const id = await start(harness, 'echo out; echo err >&2; exit 4');
    expect(await outputOf(harness, id)).toMatchObject({
      ...{ command_id: id, order: 0, exit_code: 4, stdout: 'out\n', stderr: 'err\n' },
    });
    const command = await harness.call(`GET /api/bash/bash_events/${id}`);
    expect(command.body).toMatchObject({ id, kind: 'BashCommand' });
  });

  it('counts as work while it runs, and can be stopped', async () => {
    const harness = await Harness.start();
    const id = await start(harness, 'sleep 120');
    expect((await harness.call('GET /server_info')).body).toMatchObject({ idle_time: 0 });
    expect((await harness.call(`POST /api/bash/bash_commands/${id}/stop`)).status).toBe(200);
    expect(await outputOf(harness, id)).toMatchObject({ exit_code: -1 });
    expect((await harness.call(`POST /api/bash/bash_commands/${id}/stop`)).status).toBe(404);
  });

  it('ends at its time', async () => {
    const harness = await Harness.start();
    expect(await outputOf(harness, await start(harness, 'sleep 120', 1))).toMatchObject({ exit_code: -1 });
  });

  it('hides secrets in its command and its output', async () => {
    const harness = await Harness.start();
    const secrets = { TOKEN: 'bash-secret-value' };
    await harness.call('POST /api/conversations', { json: harness.startBody({ secrets }) });
    const id = await start(harness, 'echo bash-secret-value');
    expect(await outputOf(harness, id)).toMatchObject({ stdout: '<secret-hidden>\n' });
    const command = await harness.call(`GET /api/bash/bash_events/${id}`);
    expect(JSON.stringify(command.body)).not.toContain('bash-secret-value');
  });

  it('is listed in pages, in order or backwards, and forgotten when asked', async () => {
    const harness = await Harness.start();
    for (const word of ['a', 'b', 'c'])
      await harness.call('POST /api/bash/execute_bash_command', { json: { command: `echo ${word}` } });
    const search = '/api/bash/bash_events/search?kind__eq=BashOutput';
    const first = (await harness.call<Page>(`GET ${search}&limit=2`)).body;
    const rest = (await harness.call<Page>(`GET ${search}&limit=2&page_id=${first.next_page_id}`)).body;
    const words = [...first.items, ...rest.items].map(({ stdout }) => stdout);
    expect(words).toEqual(['a\n', 'b\n', 'c\n']);
    const last = (await harness.call<Page>(`GET ${search}&limit=1&sort_order=TIMESTAMP_DESC`)).body;
    expect(last.items[0]).toMatchObject({ stdout: 'c\n' });
    expect((await harness.call('DELETE /api/bash/bash_events')).body).toEqual({ cleared_count: 6 });
    expect((await harness.call<Page>(`GET ${search}`)).body.items).toEqual([]);
  });
});
