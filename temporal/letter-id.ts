/**
 * The id of an event at the edge: the same wish, sent twice, is the same letter.
 * Owns where it comes from.
 */
import { randomUUID } from 'node:crypto';
import type { MachineEvent } from '../core/command.ts';

/** From what identifies the event itself; a random one where every occurrence counts. */
export function letterId(event: MachineEvent): string {
  return `${event.type}/${ownId(event) ?? randomUUID()}`;
}

function ownId(event: MachineEvent): string | null {
  if ('requestId' in event) return event.requestId;
  if ('messageId' in event) return event.messageId;
  if ('commandId' in event) return event.commandId;
  return null;
}
