/**
 * What temporal-compose.yml must do as it is shipped, once its images are there.
 * Owns the cases; the stack is compose-stack.ts.
 */
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Client } from '../../api/client/client.ts';
import { parley } from '../cli/parley-program.ts';
import { sumOf } from '../e2e/ledger.ts';
import { API, ComposeStack, type ComposeOrder } from './compose-stack.ts';

const RUN_ID = 'shipped';
/** A whole run has so many; PARLEY_COMPOSE_BATCH=50 has more, and lasts accordingly. */
const CONVERSATIONS = Number(process.env['PARLEY_COMPOSE_BATCH'] ?? '12');
/** In turn, each restarted and then killed while the batch goes on. */
const SERVICES = ['worker', 'api', 'temporal', 'postgresql', 'proxy', 'temporal-ui'];
const MS_MAX = 1_800_000;
/** What the script of the gateway lets an agent write, and say once there is nothing left to do. */
const TEXT = 'There is a place where it always begins.';
const AT_THE_END = 'text.md has the text.';
const AFTERWARDS = 'Done.';

export function shippedCompose(order: () => Promise<ComposeOrder>): void {
  let stack: ComposeStack;
  let conversation = '';
  beforeAll(async () => {
    stack = new ComposeStack(await order());
    await stack.up();
  }, MS_MAX);
  afterAll(() => stack.close(), MS_MAX);

  it('comes up with one command, everything on this machine alone and nobody served without a key', async () => {
    expect((await fetch(`${API}/api/v1/app-conversations/search`)).status).toBe(401);
    expect((await fetch('http://127.0.0.1:8233/')).status).toBe(200);
    expect((await fetch('http://127.0.0.1:4000/health/readiness')).status).toBe(200);
    const answer = await fetch('http://127.0.0.1:8233/api/v1/namespaces');
    expect(JSON.stringify(await answer.json())).toContain('"parley"');
  });

  it('lets the API reach what the worker made: the answer, its file, and a second message', async () => {
    conversation = await converse(stack, 'Write a note about wells into text.md.');
    expect(await textOf(stack, conversation)).toContain(TEXT);
  });

  it(
    'loses nothing of a batch while every service is restarted and killed',
    async () => {
      const { client } = stack;
      const billedBefore = stack.ledger();
      const env = { ...stack.env, PARLEY_API_KEY: stack.env['PARLEY_FIRST_API_KEY'] ?? '' };
      const args = ['run', 'job.yaml', '--json', '--run-id', RUN_ID, '--limit', String(CONVERSATIONS)];
      const cwd = path.join(stack.folder, 'deployment');
      const waiting = parley([...args, '--server', API], { cwd, env });
      let isOver = false;
      void waiting.finally(() => (isOver = true));
      await expect
        .poll(() =>
          client.getRun({ params: { run_id: RUN_ID } }).then(
            ({ in_flight: some }) => some > 0,
            () => false,
          ),
        )
        .toBe(true);
      const done: string[] = [];
      for (const service of SERVICES) {
        const during = isOver ? 'after' : 'during';
        await stack.restart(service);
        await stack.kill(service);
        done.push(`${service} ${during}`);
      }
      const end = await waiting;
      expect(end.exitCode, `${end.stderr}\n${done.join(', ')}`).toBe(0);
      expect(done[0]).toBe('worker during');
      const run = await client.getRun({ params: { run_id: RUN_ID } });
      expect(run).toMatchObject({ phase: 'finished', total: CONVERSATIONS });
      expect(run.ended).toEqual({ succeeded: CONVERSATIONS });
      const rows = stack.ledger().slice(billedBefore.length);
      const billed = Number(sumOf(rows));
      expect(run.reconciliation).toMatchObject({
        rows: rows.length,
        total_nano_usd: billed,
        assigned_nano_usd: billed,
      });
      expect(run.spent_nano_usd).toBe(billed);
    },
    MS_MAX,
  );

  it('has the conversation and its sandbox still, after the end of everything around them', async () => {
    expect(await textOf(stack, conversation)).toContain(TEXT);
    await sayMore(stack, conversation);
  });

  it(
    'goes down, leaving no container of its own, and has everything when it comes up again',
    async () => {
      await stack.down();
      expect(await stack.containers()).toEqual([]);
      await stack.up();
      const run = await stack.client.getRun({ params: { run_id: RUN_ID } });
      expect(run.ended).toEqual({ succeeded: CONVERSATIONS });
      expect(await textOf(stack, conversation)).toContain(TEXT);
      await sayMore(stack, conversation);
      await stack.client.deleteAppConversation({ params: { conversation_id: conversation } });
    },
    MS_MAX,
  );
}

/** Starts a conversation, and waits until its agent has done what the script says. */
async function converse({ client }: ComposeStack, text: string): Promise<string> {
  const task = await client.startAppConversation({
    body: { initial_message: { content: [{ type: 'text', text }] } },
  });
  const now = async () => (await client.getStartTasks({ query: { ids: [task.id] } }))[0];
  await expect.poll(async () => (await now())?.status).toMatch(/READY|ERROR/);
  const { status, detail, app_conversation_id: id } = (await now()) ?? {};
  expect({ status, detail }).toEqual({ status: 'READY', detail: null });
  await expect.poll(() => timesSaid(client, id ?? '', AT_THE_END)).toBeGreaterThan(0);
  return id ?? '';
}

/** One message more, and one answer more. */
async function sayMore({ client }: ComposeStack, id: string): Promise<void> {
  const before = await timesSaid(client, id, AFTERWARDS);
  await client.sendMessage({
    params: { conversation_id: id },
    body: { content: [{ type: 'text', text: 'Thank you.' }] },
  });
  await expect.poll(() => timesSaid(client, id, AFTERWARDS)).toBeGreaterThan(before);
}

async function timesSaid(client: Client, id: string, words: string): Promise<number> {
  const { items } = await client.searchEvents({ params: { conversation_id: id }, query: { limit: 100 } });
  return items.filter((event) => JSON.stringify(event).includes(words)).length;
}

async function textOf({ client }: ComposeStack, id: string): Promise<string> {
  const query = { file_path: `/workspace/${id}/text.md` };
  return await client.readWorkspaceFile({ params: { conversation_id: id }, query });
}
