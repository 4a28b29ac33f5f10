/**
 * Entities whose workflow was ended from outside, as by `temporal workflow terminate`: their records are ended, and
 * what they had is released.
 * Owns that the server itself must report that end: a workflow that it does not know, on a server that is new or
 * another one, is left alone. What becomes of an entity is decided in core/lost.ts and by its machine.
 */
import type { WorkflowClient } from '@temporalio/client';
import {
  addressFromKey,
  addressKey,
  conversationId,
  runId,
  sandboxId,
  type ConversationId,
  type EntityAddress,
  type RunId,
} from '../core/ids.ts';
import { lostConversation, lostRun, lostSandbox, type ItemOfRun, type Lost } from '../core/lost.ts';
import type { MachineEvent } from '../core/machine/command.ts';
import type { ConversationRow, ProjectionRow } from '../core/machine/projection.ts';
import { leaderOf } from '../core/run/run-spec.ts';
import type { Clock } from '../ports/clock.ts';
import type { EngineStore, Json } from '../ports/engine-store.ts';
import type { PlanStore, RecordStore } from '../ports/record-store.ts';
import type { Troubles } from '../ports/troubles.ts';
import type { AddressedEnvelope } from '../workflows/envelope.ts';
import { GRPC, grpcCode } from './grpc-code.ts';
import { rowsAndState } from './tombstones.ts';

/** A workflow of ours ends in none of these ways. */
const ENDED_FROM_OUTSIDE: readonly string[] = ['TERMINATED', 'FAILED', 'TIMED_OUT'];
const ENDED = `ExecutionStatus IN ('Terminated', 'Failed', 'TimedOut')`;
const OURS = `WorkflowType IN ('sandbox', 'conversation', 'run', 'shard')`;
/** How far back a sweep searches; longer than a worker is away. */
const LOOK_BACK_MS = 7 * 24 * 3_600_000;
/** Of one sweep; the next one finds the others. */
const SWEPT_MAX = 1_000;

export interface LostWorld {
  readonly client: WorkflowClient;
  readonly engine: Pick<EngineStore, 'load' | 'commit'>;
  readonly records: Pick<RecordStore, 'sandbox' | 'conversation' | 'conversations' | 'run' | 'runItems'>;
  readonly plans: PlanStore;
  readonly troubles: Pick<Troubles, 'failed'>;
  readonly clock: Clock;
  readonly send: (envelope: AddressedEnvelope) => Promise<void>;
}

/** Finds entities that are open in the store and ended in Temporal. */
export class LostEntities {
  private readonly world: LostWorld;

  constructor(world: LostWorld) {
    this.world = world;
  }

  /** Ends an entity whose workflow was ended from outside. False: it was not, or the entity has ended. */
  async mend(address: EntityAddress): Promise<boolean> {
    const lost = await this.find(address);
    if (lost === null || !(await this.wasEnded(address))) return false;
    const { engine, send } = this.world;
    if (lost === 'told') return await this.tell(address);
    if (lost === 'run') {
      await engine.commit(rowsAndState(await this.endOfRun(runIdOf(address)), null));
      return true;
    }
    const state = lost.state as Json;
    await engine.commit(rowsAndState([], { address, state, deadline: null, done: true }));
    await send({ to: address, id: `lost/${addressKey(address)}`, event: lost.event });
    return true;
  }

  /** Ends all that the server lists, and returns the ids of those that it ended; a failure does not stop the others. */
  async sweep(onFailed: (workflowId: string, error: unknown) => void = rethrow): Promise<readonly string[]> {
    const since = new Date(this.world.clock.now() - LOOK_BACK_MS).toISOString();
    const query = `${ENDED} AND ${OURS} AND CloseTime > '${since}'`;
    const ids = new Set<string>();
    for await (const { workflowId } of this.world.client.list({ query })) {
      ids.add(workflowId);
      if (ids.size >= SWEPT_MAX) break;
    }
    const mended: string[] = [];
    for (const id of ids) {
      try {
        if (await this.mend(addressFromKey(id))) mended.push(id);
      } catch (error) {
        onFailed(id, error);
      }
    }
    return mended;
  }

  /**
   * Null: its record is at its end, or there is none. `run`: its record alone ends, because its rules are nowhere else.
   * `told`: its run goes on without it; the trouble is recorded, and a user has to decide what becomes of the run.
   */
  private async find(address: EntityAddress): Promise<Lost<unknown, MachineEvent> | 'run' | 'told' | null> {
    const { engine, records } = this.world;
    if ((await engine.load(address))?.done === true) return null;
    switch (address.machine) {
      case 'sandbox': {
        const row = await records.sandbox(sandboxId(address.id));
        if (row === null || row.status === 'MISSING') return null;
        return lostSandbox(row, await this.attachedTo(address.id));
      }
      case 'conversation': {
        const row = await records.conversation(conversationId(address.id));
        return row === null ? null : lostConversation(row, await this.itemOf(row));
      }
      case 'run':
        return (await this.isOpen(address)) ? 'run' : null;
      case 'shard':
        return (await this.isOpen(address)) ? 'told' : null;
    }
  }

  private async wasEnded(address: EntityAddress): Promise<boolean> {
    try {
      const { status } = await this.world.client.getHandle(addressKey(address)).describe();
      return ENDED_FROM_OUTSIDE.includes(status.name);
    } catch (error) {
      const cause: unknown = error instanceof Error ? error.cause : undefined;
      if (error instanceof Error && error.name === 'WorkflowNotFoundError') return false;
      if (grpcCode(error) === GRPC.notFound || grpcCode(cause) === GRPC.notFound) return false;
      throw error;
    }
  }

  private async attachedTo(id: string): Promise<readonly ConversationId[]> {
    const rows = await this.world.records.conversations({ sandboxId: sandboxId(id) });
    return rows.map((row) => row.conversationId);
  }

  private async itemOf({ runId: id, key }: ConversationRow): Promise<ItemOfRun | null> {
    if (id === null || key === null) return null;
    const items = await this.world.records.runItems(id);
    const index = items.findIndex((item) => item.key === key);
    if (index < 0) return null;
    const plan = await this.world.plans.plan(id);
    // A run that was begun without a plan in the store has the items of its rows.
    return { watcher: leaderOf(plan?.items ?? items.map(() => ({})), id, index), index };
  }

  private async isOpen(address: EntityAddress): Promise<boolean> {
    const row = await this.world.records.run(runIdOf(address));
    return row !== null && row.phase !== 'finished';
  }

  private async endOfRun(id: RunId): Promise<readonly ProjectionRow[]> {
    const { records, clock } = this.world;
    const row = await records.run(id);
    return row === null ? [] : lostRun(row, await records.runItems(id), clock.now());
  }

  private async tell(address: EntityAddress): Promise<boolean> {
    const at = this.world.clock.now();
    const cause = 'its workflow was ended from outside; cancel the run, and begin the job again';
    const about = { machine: 'run', id: runIdOf(address) } as const;
    const what = `workflow ${addressKey(address)}`;
    await this.world.troubles.failed({ about, item: null, what, cause, tries: 1, nextAt: at, at });
    return true;
  }
}

function rethrow(_workflowId: string, error: unknown): never {
  throw error;
}

/** Of a run, or of one of its shards, whose number stands behind it. */
function runIdOf({ id }: EntityAddress): RunId {
  return runId(id.replace(/\.\d+$/, ''));
}

interface SweepOptions {
  /** Whether this process sweeps: of many, one does. */
  readonly leads: () => boolean;
  readonly tell: (text: string) => void;
}

/** Often enough that what was ended by hand is released a minute later; a sweep costs one listing. */
const SWEEP_EVERY_MS = 60_000;

/** Searches at intervals for entities that no workflow leads. */
export class LostSweeps {
  private readonly lost: Pick<LostEntities, 'sweep'>;
  private readonly options: SweepOptions;
  private underWay: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;
  private failing = new Set<string>();

  constructor(lost: Pick<LostEntities, 'sweep'>, options: SweepOptions) {
    this.lost = lost;
    this.options = options;
  }

  start(): void {
    void this.sweep();
    this.timer = setInterval(() => void this.sweep(), SWEEP_EVERY_MS);
  }

  /** Resolves once no sweep is under way. */
  async stop(): Promise<void> {
    clearInterval(this.timer ?? undefined);
    await this.underWay;
  }

  /** One that takes longer than the interval is not begun again beside itself. */
  sweep(): Promise<void> {
    this.underWay ??= this.once().finally(() => (this.underWay = null));
    return this.underWay;
  }

  private async once(): Promise<void> {
    if (!this.options.leads()) return;
    const failing = new Set<string>();
    const failed = (what: string, error: unknown): void => {
      failing.add(what);
      if (!this.failing.has(what)) this.options.tell(`Cannot ${what}: ${messageOf(error)}`);
    };
    try {
      const mended = await this.lost.sweep((id, error) => failed(`let ${id} go`, error));
      for (const id of mended)
        this.options.tell(`${id} was ended from outside: its record says so, and what it had is let go`);
    } catch (error) {
      failed('look for workflows that were ended from outside', error);
    }
    this.failing = failing;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
