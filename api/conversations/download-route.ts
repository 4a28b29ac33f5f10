/**
 * The trajectory of a conversation as a zip that is written while it is sent.
 * Owns the order meta, then events; works with the sandbox gone, and holds one page of events in memory.
 */
import { ZipFile } from 'yazl';
import type { ConversationRow } from '../../core/machine/projection.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Application } from '../application/application.ts';
import { route } from '../application/route.ts';
import { conversationParams } from '../application/wire.ts';
import { recordsById } from './conversation-record.ts';
import { findConversation } from './find-conversation.ts';
import { trajectoryEntry } from '../../activities/collect/trajectory.ts';

/** As in the reference product: more are read page by page. */
const EVENTS_MAX = 10_000;
const PAGE_EVENTS = 200;
/** Entries carry a fixed instant, so that the same events give the same bytes. */
const ENTRY_TIME = new Date(Date.UTC(2000, 0, 1));
/** Downloads under way for one conversation: each holds a page and a stream. */
const underWay = new Set<string>();

export const DOWNLOAD_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/app-conversations/:conversation_id/download',
    operation: 'download_trajectory',
    summary: 'The record and every event, as a zip.',
    access: 'key',
    params: conversationParams,
    result: 'application/zip',
    errors: ['not_found', 'request_too_large', 'store_conflict'],
    handler: async ({ application, caller, params, reply }) => {
      const row = await findConversation(application, caller, params.conversation_id);
      const { conversationId: id } = row;
      if ((await application.world.events.count(id)) > EVENTS_MAX)
        throw new ParleyError('request_too_large', `Cannot export: more than ${EVENTS_MAX} events`);
      if (underWay.has(id)) throw new ParleyError('store_conflict', 'Cannot export: an export is under way');
      underWay.add(id);
      const zip = new ZipFile();
      const end = (): void => void underWay.delete(id);
      reply.raw.once('close', end);
      writing(application, zip, row).catch((error: unknown) => {
        end();
        reply.raw.destroy(error instanceof Error ? error : new Error(String(error)));
      });
      await reply
        .type('application/zip')
        .header('content-disposition', `attachment; filename="conversation_${id}.zip"`)
        .send(zip.outputStream);
      return null;
    },
  }),
] as const;

/** The next page is read once the one before has gone out. */
async function writing(application: Application, zip: ZipFile, row: ConversationRow): Promise<void> {
  const { world } = application;
  const { conversationId: id } = row;
  const [record] = await recordsById(application, row.userId, [id]);
  // A key opens a sandbox: it does not belong into a file that is passed on (D20).
  const meta = { ...record, session_api_key: undefined, conversation_url: undefined };
  zip.addBuffer(Buffer.from(`${JSON.stringify(meta, null, 2)}\n`), 'meta.json', { mtime: ENTRY_TIME });
  for (let after = 0; ;) {
    const page = await world.events.events(id, { afterSequence: after, limit: PAGE_EVENTS });
    for (const event of page) {
      const [name, text] = trajectoryEntry(event);
      zip.addBuffer(Buffer.from(text), name, { mtime: ENTRY_TIME });
    }
    after = page.at(-1)?.sequence ?? after;
    if (page.length < PAGE_EVENTS) break;
    await drained(zip);
  }
  zip.end();
}

/** More of it than this waiting to be sent means that the client is slower than the store. */
const WAITING_BYTES_MAX = 1_048_576;
const POLL_MS = 20;

async function drained({ outputStream }: ZipFile): Promise<void> {
  const stream = outputStream as NodeJS.ReadableStream & {
    readonly readableLength: number;
    readonly destroyed: boolean;
  };
  while (stream.readableLength > WAITING_BYTES_MAX && !stream.destroyed)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
