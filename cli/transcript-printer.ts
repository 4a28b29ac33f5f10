/**
 * Transcripts of a run's conversations, printed once each event and in order, however often it is asked.
 * Owns the cursors; must not decide when to look again.
 */
import type { ConversationId } from '../core/ids.ts';
import type { RunItemRow } from '../core/machine/projection.ts';
import type { Reader } from '../host/host-port.ts';
import { timeOfDay } from '../core/text/amounts.ts';
import { eventLine } from './print/event-line.ts';
import type { RecordStream } from '../host/records.ts';
import { cut } from '../host/terminal-text.ts';
import type { TextStream } from '../host/shell.ts';

const PAGE_EVENTS = 500;
const DETAIL_WIDTH = 180;

export interface TranscriptPrinter {
  /** Prints what is new in the conversations of these items. */
  print(items: readonly RunItemRow[]): Promise<void>;
}

interface Cursor {
  event: number;
  lifecycle: number;
  /** The sentence that was printed last: who was refused by a sandbox is placed again. */
  placement: string | null;
}

export function transcriptPrinter(options: {
  readonly reader: Reader;
  readonly stdout: TextStream;
  /** Null prints lines. */
  readonly records: RecordStream | null;
}): TranscriptPrinter {
  const { reader, stdout, records } = options;
  const cursors = new Map<string, Cursor>();
  const printEvents = async (key: string, id: ConversationId, cursor: { event: number }): Promise<void> => {
    for (;;) {
      const page = await reader.events(id, { afterSequence: cursor.event, limit: PAGE_EVENTS });
      for (const event of page) {
        cursor.event = event.sequence;
        if (records !== null) {
          records.write({
            type: 'event',
            key,
            conversation_id: id,
            sequence: event.sequence,
            event: event.body,
          });
          continue;
        }
        const line = eventLine(key, event);
        if (line !== null) stdout.write(`${line}\n`);
      }
      if (page.length < PAGE_EVENTS) return;
    }
  };
  const printPlacement = async (key: string, id: ConversationId, cursor: Cursor): Promise<void> => {
    const placement = await reader.placement(id);
    if (placement === null || placement === cursor.placement) return;
    cursor.placement = placement;
    if (records !== null) records.write({ type: 'placement', key, conversation_id: id, placement });
    else stdout.write(`${key} placed by ${placement}\n`);
  };
  const printLifecycle = async (
    key: string,
    id: ConversationId,
    cursor: { lifecycle: number },
  ): Promise<void> => {
    const all = await reader.lifecycleEvents(id);
    for (const { at, code, detail } of all.slice(cursor.lifecycle)) {
      if (records !== null) records.write({ type: 'lifecycle', key, conversation_id: id, at, code, detail });
      else stdout.write(`${timeOfDay(at)} ${key} ${code}: ${cut(detail, DETAIL_WIDTH)}\n`);
    }
    cursor.lifecycle = all.length;
  };
  return {
    async print(items) {
      for (const { key, conversationId } of items) {
        if (conversationId === null) continue;
        const cursor = cursors.get(conversationId) ?? { event: 0, lifecycle: 0, placement: null };
        cursors.set(conversationId, cursor);
        await printPlacement(key, conversationId, cursor);
        await printEvents(key, conversationId, cursor);
        await printLifecycle(key, conversationId, cursor);
      }
    },
  };
}
