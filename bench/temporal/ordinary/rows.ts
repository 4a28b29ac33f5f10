/**
 * The rows that an ordinary conversation writes: one for each status, as queries expect them.
 * Owns their stamps; runs inside a workflow.
 */
import type { ConversationSpec } from '../../../core/conversation/state.ts';
import type { SandboxId } from '../../../core/ids.ts';
import type { ConversationRow, SandboxRow } from '../../../core/machine/projection.ts';
import type { ExecutionStatus, SandboxStatus, StartTaskStatus } from '../../../core/status.ts';

export class RowsOfOne {
  /** Rows so far: the sequence of the next. */
  count: number;
  private readonly spec: ConversationSpec;

  constructor(spec: ConversationSpec, count: number) {
    this.spec = spec;
    this.count = count;
  }

  conversation(startTask: StartTaskStatus, executionStatus: ExecutionStatus | null = null): ConversationRow {
    const { conversationId, userId, runId, key, repository, branch, model, title, tags } = this.spec;
    return {
      table: 'conversation',
      ...this.stamp(),
      ...{ conversationId, userId, runId, key, model, title, tags },
      sandboxId: null,
      sandboxStatus: null,
      startTask,
      startTaskDetail: null,
      executionStatus,
      executionStatusAt: executionStatus === null ? null : Date.now(),
      queuedMessages: 0,
      selectedRepository: repository,
      selectedBranch: branch,
      createdAt: Date.now(),
      updatedAt: Date.now(),
    };
  }

  sandbox(sandboxId: SandboxId, status: SandboxStatus): SandboxRow {
    const isUp = status === 'RUNNING';
    return {
      table: 'sandbox',
      ...this.stamp(),
      sandboxId,
      userId: this.spec.userId,
      status,
      pauseReason: status === 'PAUSED' ? 'idle' : null,
      transition: null,
      detail: null,
      stale: false,
      createdAt: Date.now(),
      createdBy: 'placement',
      sessionStartedAt: isUp ? Date.now() : null,
      releasedAt: status === 'PAUSED' ? Date.now() : null,
      available: isUp,
      holdsSlot: status !== 'PAUSED',
      archive: 'none',
    };
  }

  private stamp(): { readonly generation: number; readonly sequence: number } {
    this.count += 1;
    return { generation: 1, sequence: this.count };
  }
}
