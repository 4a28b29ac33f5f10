/**
 * The trajectory: a zip of the conversation's record and its events in order.
 * Owns the layout `meta.json` + `event_<6 digits>_<event id>.json`; works with the sandbox gone.
 */
import { ZipFile } from 'yazl';
import type { ConversationId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { StoredEvent } from '../../ports/record-store.ts';
import type { World } from '../world.ts';
import type { Collected } from './collected.ts';

const PAGE_EVENTS = 1_000;
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
  const files: (readonly [string, string])[] = [
    ['meta.json', pretty({ ...record, table: undefined, lifecycle })],
  ];
  for (let after = 0; ;) {
    const page = await world.events.events(conversationId, { afterSequence: after, limit: PAGE_EVENTS });
    files.push(...page.map(trajectoryEntry));
    after = page.at(-1)?.sequence ?? after;
    if (page.length < PAGE_EVENTS) break;
  }
  const scanned = Buffer.from(files.map(([, text]) => text).join('\n'));
  return [{ name: 'trajectory.zip', content: await zipped(files), scanned }];
}

/** Name and text of one event in the zip. */
export function trajectoryEntry(event: StoredEvent): readonly [string, string] {
  const safeId = event.eventId.replaceAll(/[^A-Za-z0-9-]/g, '_');
  return [`event_${String(event.sequence).padStart(6, '0')}_${safeId}.json`, pretty(event.body)];
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

async function zipped(files: readonly (readonly [string, string])[]): Promise<Uint8Array> {
  const zip = new ZipFile();
  for (const [name, text] of files) zip.addBuffer(Buffer.from(text), name, { mtime: ENTRY_TIME });
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
