/**
 * The limit: Fastify routes that run the same indexed query and send the stored text, without keys, checks or shapes.
 * Owns the routes and the queries, on either database; must not use a part of ours.
 */
import Fastify from 'fastify';
import Database from 'libsql';
import pg from 'pg';
import { TAG, USER } from './filled-store.ts';

export interface BareServer {
  readonly url: string;
  close(): Promise<void>;
}

interface Body {
  readonly body: string;
}

/** Runs one of the three queries, prepared. */
interface Rows {
  get(id: string): Promise<readonly Body[]>;
  search(): Promise<readonly Body[]>;
  events(id: string): Promise<readonly Body[]>;
  close(): Promise<void>;
}

const GET = 'select body from conversation where conversation_id = $1 and user_id = $2';
const SEARCH = `select c.body from conversation c where c.conversation_id in (
    select conversation_id from conversation_tag where user_id = $1 and key = $2 and value = $3
    order by created_at desc, conversation_id desc limit 20)
  order by c.created_at desc, c.conversation_id desc`;
const EVENTS = 'select body from event where conversation_id = $1 order by sequence limit 100';

export function sqliteRows(file: string): Rows {
  const database = new Database(file);
  const [get, search, events] = [GET, SEARCH, EVENTS].map((text) =>
    database.prepare(text.replaceAll(/\$(\d)/g, '?$1')),
  );
  const all = (statement: typeof get, ...values: string[]): Promise<readonly Body[]> =>
    Promise.resolve((statement?.all(...values) ?? []) as Body[]);
  return {
    get: (id) => all(get, id, USER),
    search: () => all(search, USER, TAG.key, TAG.value),
    events: (id) => all(events, id),
    close() {
      database.close();
      return Promise.resolve();
    },
  };
}

/** As many connections as the store has. */
export function postgresRows(connectionString: string, max: number): Rows {
  const pool = new pg.Pool({ connectionString, max });
  // The pool ends before its connections are closed, and the server that stops next may end them first.
  pool.on('error', () => undefined);
  const all = async (name: string, text: string, values: readonly string[]): Promise<readonly Body[]> =>
    (await pool.query<Body>({ name, text, values: [...values] })).rows;
  return {
    get: (id) => all('get', GET, [id, USER]),
    search: () => all('search', SEARCH, [USER, TAG.key, TAG.value]),
    events: (id) => all('events', EVENTS, [id]),
    close: () => pool.end(),
  };
}

const list = (rows: readonly Body[]): string => `[${rows.map(({ body }) => body).join()}]`;

export async function startBareServer(rows: Rows): Promise<BareServer> {
  const app = Fastify({ logger: false });
  const idOf = ({ params }: { readonly params: unknown }): string => (params as { readonly id: string }).id;
  const json = 'application/json';
  app.get('/get/:id', async (request, reply) => reply.type(json).send(list(await rows.get(idOf(request)))));
  app.get('/search', async (_request, reply) => reply.type(json).send(list(await rows.search())));
  app.get('/events/:id', async (request, reply) =>
    reply.type(json).send(list(await rows.events(idOf(request)))),
  );
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    async close() {
      await app.close();
      await rows.close();
    },
  };
}
