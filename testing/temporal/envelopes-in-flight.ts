/**
 * Counts envelopes between a client and the workflows: what the server took and what was handled.
 * Owns the count at the sender's side, as an interceptor of the client that the product's post uses.
 */
import { WorkflowNotFoundError, type WorkflowClientInterceptor } from '@temporalio/client';

/** The server's step to a run's successor is not one: in between a signal may meet no open run. */
const GAP_TRIES_MAX = 40;
const GAP_MS = 25;

export class EnvelopesInFlight {
  /** Calls that have not returned. */
  calls = 0;
  /** Signals that the server took, by workflow id. */
  readonly taken = new Map<string, number>();
  /** The latest run that an envelope began or met, by workflow id. */
  readonly begun = new Map<string, string>();
  readonly interceptor: WorkflowClientInterceptor;

  /** `isOpen`: whether the workflow of an id is known and has not ended. */
  constructor(isOpen: (workflowId: string) => boolean) {
    this.interceptor = {
      signal: (input, next) =>
        this.count(input.workflowExecution.workflowId ?? '', (workflowId) =>
          acrossTheGap(
            () => next(input),
            () => isOpen(workflowId),
          ),
        ),
      signalWithStart: (input, next) =>
        this.count(input.options.workflowId, async (workflowId) => {
          const runId = await next(input);
          this.begun.set(workflowId, runId);
          return runId;
        }),
    };
  }

  private async count<Value>(
    workflowId: string,
    call: (workflowId: string) => Promise<Value>,
  ): Promise<Value> {
    this.calls += 1;
    try {
      const value = await call(workflowId);
      this.taken.set(workflowId, (this.taken.get(workflowId) ?? 0) + 1);
      return value;
    } finally {
      this.calls -= 1;
    }
  }
}

async function acrossTheGap<Value>(call: () => Promise<Value>, isOpen: () => boolean): Promise<Value> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError) || !isOpen() || tried >= GAP_TRIES_MAX) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, GAP_MS));
  }
}
