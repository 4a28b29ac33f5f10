/**
 * The trajectory: a zip of the conversation's record and its events in order.
 * Owns the layout `meta.json` + `event_<6 digits>_<event id>.json`; works with the sandbox gone.
 */
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { ConversationId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { StoredEvent } from '../../ports/record-store.ts';
import type { World } from '../world.ts';
import type { Collected } from './collected.ts';

/** Of one page, which is held in memory: with events at their largest it is some hundred MiB. */
const PAGE_EVENTS = 50;
/** Entries carry a fixed instant, so that the same events give the same bytes. */
const ENTRY_TIME = new Date(Date.UTC(2000, 0, 1));

/** @throws ParleyError conversation_deleted: its transcript is gone, an empty one would look like a result */
export async function collectTrajectory(
  world: World,
  conversationId: ConversationId,
): Promise<readonly Collected[]> {
  const record = await world.records.conversation(conversationId);
  if (record === null)
    throw new ParleyError(
      'conversation_deleted',
      `Cannot collect from conversation "${conversationId}": it was deleted`,
    );
  const lifecycle = await world.lifecycle.lifecycleEvents(conversationId);
  const meta = pretty({ ...record, table: undefined, lifecycle });
  return [{ name: 'trajectory.zip', content: (scan) => zipped(filesOf(world, conversationId, meta), scan) }];
}

type NamedText = readonly [name: string, text: string];

async function* filesOf(
  world: World,
  conversationId: ConversationId,
  meta: string,
): AsyncGenerator<NamedText> {
  yield ['meta.json', meta];
  for (let after = 0; ;) {
    const page = await world.events.events(conversationId, { afterSequence: after, limit: PAGE_EVENTS });
    for (const event of page) yield trajectoryEntry(event);
    after = page.at(-1)?.sequence ?? after;
    if (page.length < PAGE_EVENTS) return;
  }
}

/** Name and text of one event in the zip. */
export function trajectoryEntry(event: StoredEvent): NamedText {
  const safeId = event.eventId.replaceAll(/[^A-Za-z0-9-]/g, '_');
  return [`event_${String(event.sequence).padStart(6, '0')}_${safeId}.json`, pretty(event.body)];
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The next file is read once the one before has gone into the zip: what is in memory is one page. */
async function* zipped(
  files: AsyncIterable<NamedText>,
  scan: (bytes: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const output = Readable.from(zip.outputStream as AsyncIterable<Buffer>, { objectMode: false });
  const filled = fill(zip, files, scan);
  filled.catch((error: unknown) => output.destroy(error as Error));
  for await (const chunk of output) yield chunk as Uint8Array;
  await filled;
}

async function fill(
  zip: ZipFile,
  files: AsyncIterable<NamedText>,
  scan: (bytes: Uint8Array) => void,
): Promise<void> {
  for await (const [name, text] of files) {
    const bytes = Buffer.from(text);
    scan(bytes);
    await new Promise<void>((resolve) => {
      zip.addReadStreamLazy(name, { mtime: ENTRY_TIME, size: bytes.length }, (give) => {
        const stream = Readable.from([bytes], { objectMode: false });
        stream.once('close', resolve);
        give(null, stream);
      });
    });
  }
  zip.end();
}
