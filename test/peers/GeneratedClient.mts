/**
 * Drives the types that openapi-typescript made of the OpenAPI document: from a start to the download of a zip.
 * It is compiled beside the generated `schema.d.ts`; what it prints is compared.
 */
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

type Conversation = components['schemas']['Conversation'];
const FINISHED: components['schemas']['ConversationExecutionStatus'] = 'FINISHED';
const [, , url = '', key = ''] = process.argv;
const client = createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${key}` } });

function given<Data>({ data, response }: { data?: Data; response: Response }): NonNullable<Data> {
  if (data === undefined || data === null) throw new Error(`${response.url}: ${response.status}`);
  return data;
}

async function until<Value>(read: () => Promise<Value | null>): Promise<Value> {
  for (const end = Date.now() + 120_000; ;) {
    const value = await read();
    if (value !== null) return value;
    if (Date.now() > end) throw new Error('it never came');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const body = {
  initial_message: { content: [{ type: 'text' as const, text: 'Write hello.txt' }] },
  tags: { team: 'blue' },
};
const task = given(await client.POST('/api/v1/app-conversations', { body }));
const id = await until(async () => {
  const query = { ids: [task.id] };
  const [now] = given(await client.GET('/api/v1/app-conversations/start-tasks', { params: { query } }));
  return now?.status === 'READY' ? now.app_conversation_id : null;
});
const record = await until(async (): Promise<Conversation | null> => {
  const [now] = given(await client.GET('/api/v1/app-conversations', { params: { query: { ids: [id] } } }));
  return now?.execution_status === FINISHED ? now : null;
});
console.log('sandbox', record.sandbox_status, record.tags['team']);

const path = { conversation_id: id };
const query = { sort_order: 'TIMESTAMP' as const };
const { items } = given(
  await client.GET('/api/v1/conversation/{conversation_id}/events/search', { params: { path, query } }),
);
for (const { kind, ...rest } of items) if (kind === 'ActionEvent') console.log('action', rest['tool_name']);
const zip = given(
  await client.GET('/api/v1/app-conversations/{conversation_id}/download', {
    params: { path },
    parseAs: 'arrayBuffer',
  }),
);
console.log('zip', Buffer.from(zip).subarray(0, 2).toString());
const sandboxes = given(await client.GET('/api/v1/sandboxes/search'));
console.log('page', sandboxes.items.length, sandboxes.items[0]?.status);
const { error, response } = await client.GET('/api/v1/runs/{run_id}', {
  params: { path: { run_id: 'none' } },
});
console.log('refused', response.status, error?.code);
