/**
 * What a client gets back before its request reaches a machine: the edge reads the record, as the API does (D8).
 * Owns the records that it reads; the refusals are those of core/.
 */
import type { MachineEvent } from '../../core/machine/command.ts';
import { messageRefusal } from '../../core/conversation/machine.ts';
import type { EntityAddress } from '../../core/ids.ts';
import type { ConversationRow, ProjectionRow, SandboxRow } from '../../core/machine/projection.ts';
import { refusalOf } from '../../core/sandbox/machine.ts';
import { isNewer } from '../../core/machine/snapshot.ts';

/** The newest row of one entity, and the one before it. */
interface Versions<Row> {
  readonly newest: Row;
  readonly older: Row | null;
}

export class Edge {
  private readonly conversations = new Map<string, Versions<ConversationRow>>();
  private readonly sandboxes = new Map<string, Versions<SandboxRow>>();

  project(rows: readonly ProjectionRow[]): void {
    for (const row of rows) {
      if (row.table === 'conversation') keep(this.conversations, row.conversationId, row);
      else if (row.table === 'sandbox') keep(this.sandboxes, row.sandboxId, row);
    }
  }

  /** True when the request is sent on; `fromReplica` reads a copy of the record that lags. */
  admits(to: EntityAddress, event: MachineEvent, fromReplica = false): boolean {
    switch (to.machine) {
      case 'conversation': {
        const row = read(this.conversations, to.id, fromReplica);
        return row !== null && (event.type !== 'messageReceived' || messageRefusal(row) === null);
      }
      case 'sandbox': {
        const row = read(this.sandboxes, to.id, fromReplica);
        const request = REQUESTS[event.type];
        return row !== null && request !== undefined && refusalOf(row, request) === null;
      }
      case 'run':
        return true;
      case 'shard':
        return false;
    }
  }
}

const REQUESTS: Readonly<Record<string, 'pause' | 'resume' | 'delete'>> = {
  pauseRequested: 'pause',
  resumeRequested: 'resume',
  deleteRequested: 'delete',
};

function keep<Row extends ConversationRow | SandboxRow>(
  rows: Map<string, Versions<Row>>,
  id: string,
  row: Row,
): void {
  const known = rows.get(id);
  if (known === undefined) rows.set(id, { newest: row, older: null });
  else if (isNewer(row, known.newest)) rows.set(id, { newest: row, older: known.newest });
}

function read<Row>(rows: Map<string, Versions<Row>>, id: string, fromReplica: boolean): Row | null {
  const known = rows.get(id);
  if (known === undefined) return null;
  return fromReplica && known.older !== null ? known.older : known.newest;
}
