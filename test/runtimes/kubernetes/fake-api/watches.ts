/**
 * Watch streams of the stand-in API server.
 * Owns their backlog, the error of a forgotten place, bookmarks, and cutting them in the middle.
 */
import type { ServerResponse } from 'node:http';
import { ApiRefusal, statusBody } from './api-object.ts';
import type { ApiObject, Resource } from './api-object.ts';
import type { ObjectStore, StoreEvent } from './object-store.ts';
import { matches } from './selectors.ts';

export interface WatchQuery {
  readonly resource: Resource;
  readonly selector: string | null;
  readonly version: string | null;
  readonly timeoutS: number | null;
}

export interface Watches {
  open(query: WatchQuery, response: ServerResponse): void;
  /** Streams that are open now. */
  readonly count: number;
  /** Streams that were ever opened. */
  readonly opened: number;
  /** Breaks every open stream, in the middle of a line. */
  cut(): void;
  /** Ends every open stream in order: whatever was sent before is received. */
  finish(): void;
  /** Sends every stream the newest version and nothing else. */
  bookmark(): void;
  /** While true streams stay open and send nothing: a connection that died in silence. */
  isDeaf: boolean;
}

export function createWatches(store: ObjectStore): Watches {
  const open = new Set<{ readonly query: WatchQuery; readonly response: ServerResponse }>();
  let opened = 0;
  const send = (response: ServerResponse, type: string, object: object): void => {
    response.write(`${JSON.stringify({ type, object })}\n`);
  };
  const watches: Watches = {
    isDeaf: false,
    get count() {
      return open.size;
    },
    get opened() {
      return opened;
    },
    open(query, response) {
      opened += 1;
      const from = Number(query.version ?? '0');
      response.writeHead(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
      if (query.version !== null && from !== 0 && from < store.oldest) {
        const message = `too old resource version: ${from} (${store.oldest})`;
        send(response, 'ERROR', statusBody(new ApiRefusal(410, 'Expired', message)));
        response.end();
        return;
      }
      const stream = { query, response };
      open.add(stream);
      response.flushHeaders();
      response.on('close', () => open.delete(stream));
      for (const event of store.events) if (event.version > from) tell(stream, event);
      if (query.timeoutS !== null) setTimeout(() => response.end(), query.timeoutS * 1_000).unref();
    },
    cut() {
      for (const { response } of open) {
        response.write('{"type":"MODIF');
        response.destroy();
      }
      open.clear();
    },
    finish() {
      for (const { response } of open) response.end();
    },
    bookmark() {
      for (const { response, query } of open) {
        const object = { kind: query.resource, metadata: { resourceVersion: String(store.version) } };
        send(response, 'BOOKMARK', object);
      }
    },
  };
  const tell = (
    stream: { readonly query: WatchQuery; readonly response: ServerResponse },
    event: StoreEvent,
  ): void => {
    const { query, response } = stream;
    const object: ApiObject = event.object;
    if (watches.isDeaf || event.resource !== query.resource || !matches(object, query.selector)) return;
    send(response, event.type, object);
  };
  store.listen((event) => {
    for (const stream of open) tell(stream, event);
  });
  return watches;
}
