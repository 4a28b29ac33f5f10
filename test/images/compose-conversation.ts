/**
 * A conversation over the API of whatever has been started as it is shipped, by the script of its gateway.
 * Owns starting it, saying more, and reading what it wrote.
 */
import { expect } from 'vitest';
import type { Client } from '../../api/client/client.ts';

/** Whatever has the client of a service, a stack of compose or a cluster. */
export interface Conversing {
  readonly client: Client;
}

/** What the script of the gateway lets an agent write, and say once there is nothing left to do. */
export const TEXT = 'There is a place where it always begins.';
const AT_THE_END = 'text.md has the text.';
const AFTERWARDS = 'Done.';

/** Starts a conversation, and waits until its agent has done what the script says. */
export async function converse({ client }: Conversing, text: string): Promise<string> {
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
export async function sayMore({ client }: Conversing, id: string): Promise<void> {
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

export async function textOf({ client }: Conversing, id: string): Promise<string> {
  const query = { file_path: `/workspace/${id}/text.md` };
  return await client.readWorkspaceFile({ params: { conversation_id: id }, query });
}
