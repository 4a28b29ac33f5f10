/**
 * The id of an event at the edge: the same wish, sent twice, is the same letter.
 * Owns where it comes from.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { MachineEvent } from '../core/command.ts';
import { utf8Bytes } from '../core/shorten.ts';

/** A server takes 1,000 bytes for the id of an update, and a workflow fewer for that of a letter. */
const ID_BYTES_MAX = 400;

/** From what identifies the event itself; a random one where every occurrence counts. */
export function letterId(event: MachineEvent): string {
  const id = ownId(event) ?? randomUUID();
  return `${event.type}/${utf8Bytes(id) <= ID_BYTES_MAX ? id : digestOf(id)}`;
}

function ownId(event: MachineEvent): string | null {
  if ('requestId' in event) return event.requestId;
  if ('messageId' in event) return event.messageId;
  if ('commandId' in event) return event.commandId;
  return null;
}

/** Cut short, two ids could become one. */
function digestOf(id: string): string {
  return `sha256:${createHash('sha256').update(id).digest('hex')}`;
}
