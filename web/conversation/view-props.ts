/**
 * What every view of one conversation is handed.
 * Owns the shape: the views are loaded by whoever chooses among them, and must not import it back.
 */
import type { ConversationRecord } from './conversation-table.tsx';

export interface ViewProps {
  readonly record: ConversationRecord;
}
