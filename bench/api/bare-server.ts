/**
 * The limit: a Fastify route that runs the same indexed query and sends the stored text, without keys, checks or shapes.
 * Owns the queries; must not use a part of ours.
 */
import Fastify from 'fastify';
import Database from 'libsql';
import { TAG, USER } from './filled-store.ts';

export interface BareServer {
  readonly url: string;
  close(): Promise<void>;
}

interface Body {
  readonly body: string;
}

const list = (rows: readonly unknown[]): string =>
  `[${(rows as readonly Body[]).map(({ body }) => body).join()}]`;

export async function startBareServer(file: string): Promise<BareServer> {
  const database = new Database(file);
  const get = database.prepare('select body from conversation where conversation_id = ? and user_id = ?');
  const search = database.prepare(
    `select c.body from conversation c where c.user_id = ? and c.conversation_id in (
       select conversation_id from conversation_tag where user_id = ? and key = ? and value = ?)
     order by c.created_at desc, c.conversation_id desc limit 20`,
  );
  const events = database.prepare(
    'select body from event where conversation_id = ? order by sequence limit 100',
  );
  const app = Fastify({ logger: false });
  app.get('/get/:id', (request, reply) =>
    reply.type('application/json').send(list(get.all((request.params as { id: string }).id, USER))),
  );
  app.get('/search', (_request, reply) =>
    reply.type('application/json').send(list(search.all(USER, USER, TAG.key, TAG.value))),
  );
  app.get('/events/:id', (request, reply) =>
    reply.type('application/json').send(list(events.all((request.params as { id: string }).id))),
  );
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    async close() {
      await app.close();
      database.close();
    },
  };
}
