/**
 * Announces what an entity ordered, one batch at a time, and makes sure that each is announced once.
 *
 * A local activity has its effects before the history has it. A worker that is killed in between leaves an activation
 * which the next worker takes anew, with more envelopes perhaps. So every batch carries what it rests on, and the store
 * keeps the first: an execution that comes second goes back and takes the inputs of the first.
 * Owns numbers and what the history holds of them; must not start anything long.
 */
import { workflowInfo } from '@temporalio/workflow';
import type { ActivityCommand } from '../core/machine/command.ts';
import { inputInPresentNames } from '../core/machine/former-names.ts';
import { isBrief } from '../core/machine/resource.ts';
import { restOn } from './basis.ts';
import { announce, sandboxTouchedBy, type AcceptedBatch, type Batch } from './carrier.ts';
import type { ClockSight } from './clock-sight.ts';
import type { Activation, Entity } from './entity.ts';
import type { Inbox, Input } from './input.ts';

/** Inputs without an order are written down from time to time, so that a batch rests on few. */
const UNCOMMITTED_INPUTS_MAX = 64;

/** An execution that was set back waits until an operator makes the store forget, and retries at this interval. */
const STAND_STILL_MS = 3_600_000;

export interface Committed {
  readonly orders: Activation;
  readonly answers: AcceptedBatch;
}

/** Where a run of the workflow takes over. */
export interface Beginning {
  /** Of the latest batch. */
  readonly number: number;
  /** The state is the one that the store has of the entity at rest. */
  readonly isTakenUp: boolean;
  /** The clock reading of the entity's latest batch; null when it is unknown. */
  readonly clock: ClockSight | null;
}

/** Of the long ones: a worker finds the host whose queue each belongs to. */
function touchedBy(commands: readonly ActivityCommand[]): Pick<Batch, 'touched'> {
  const touched = commands.flatMap((command) => {
    const id = isBrief(command) ? null : sandboxTouchedBy(command);
    return id === null ? [] : [[command.id, id] as const];
  });
  return touched.length === 0 ? {} : { touched: Object.fromEntries(touched) };
}

const clockInput = (byMs: number): Input => ({ kind: 'clock', byMs, at: Date.now() });

export class BatchCommitter {
  /** Number of the latest batch that was announced. */
  number: number;
  /** The clock reading with which it was announced; null when it is unknown. */
  clock: ClockSight | null;
  private settled: number;
  /** Batches that were announced since, and how long the history was then. */
  private recent: { readonly number: number; readonly historyLength: number }[] = [];
  /** The state that the store has of an entity at rest; null while it has none. */
  private putAway: unknown;
  private readonly entity: Entity;
  private readonly inbox: Inbox;

  constructor(entity: Entity, inbox: Inbox, { number, isTakenUp, clock }: Beginning) {
    this.entity = entity;
    this.inbox = inbox;
    this.number = number;
    this.clock = clock;
    this.settled = number;
    this.putAway = isTakenUp ? entity.state : null;
  }

  get isDirty(): boolean {
    const { entity } = this;
    if (entity.hasOrders || entity.inputs.length >= UNCOMMITTED_INPUTS_MAX) return true;
    return entity.restedIn !== null && entity.restedIn !== this.putAway;
  }

  /** No input is left that is in no batch. */
  get isClean(): boolean {
    return !this.isDirty && this.entity.inputs.length === 0;
  }

  /** Announces all that was ordered since the last time; what comes meanwhile waits. */
  async commit(): Promise<Committed> {
    const { entity } = this;
    for (;;) {
      const { rows, envelopes, commands } = entity.orders;
      const answers = await announce({
        entity: entity.address,
        number: this.number + 1,
        settled: this.settledByNow(),
        inputs: entity.inputs,
        clock: { at: Date.now(), last: this.clock },
        rows,
        envelopes,
        commands: commands.filter(isBrief),
        ...touchedBy(commands),
        ...this.keptInStore(),
      });
      if (answers.kind === 'clockSet') {
        this.clock = answers.clock;
        const taken = entity.rollback();
        for (const input of [clockInput(answers.byMs), ...taken]) entity.apply(input);
        continue;
      }
      if (answers.kind === 'different') {
        this.inbox.putBack(entity.rebase(answers.inputs.map(inputInPresentNames)));
        continue;
      }
      if (answers.kind === 'overtaken') {
        await this.inbox.news(STAND_STILL_MS);
        continue;
      }
      if (answers.basis !== undefined) restOn(answers.basis.map(inputInPresentNames), entity, this.inbox);
      return this.acknowledge(answers);
    }
  }

  /** The store gets the state of an entity at rest; while it has an older one, it learns that the entity is at work. */
  private keptInStore(): Pick<Batch, 'tombstone' | 'opened'> {
    const { isAtRest, state } = this.entity;
    if (isAtRest) return { tombstone: { state } };
    return this.putAway === null ? {} : { opened: { state } };
  }

  private acknowledge(answers: AcceptedBatch): Committed {
    const { entity } = this;
    const said = { orders: entity.orders, answers };
    this.number += 1;
    this.clock = answers.clock ?? this.clock;
    this.recent.push({ number: this.number, historyLength: workflowInfo().historyLength });
    this.putAway = entity.isAtRest ? entity.state : null;
    entity.settle();
    return said;
  }

  /** A later task of this execution exists only when the server took the end of the one before. */
  private settledByNow(): number {
    const { historyLength } = workflowInfo();
    const open = this.recent.findIndex((one) => one.historyLength >= historyLength);
    const held = this.recent.splice(0, open < 0 ? this.recent.length : open);
    this.settled = held.at(-1)?.number ?? this.settled;
    return this.settled;
  }
}
