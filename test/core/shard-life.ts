/**
 * A shard of one item in every phase, reached the way it is reached in life.
 * Owns the wishes its run would send; must not run a conversation.
 */
import { runId } from '../../core/ids.ts';
import type { RunRules } from '../../core/run/rules.ts';
import type { RunItem, RunItemSpec, RunState } from '../../core/run/state.ts';
import { shardMachine, type ShardCommand } from '../../core/shard/machine.ts';
import type { ShardDirective, ShardEvent } from '../../core/shard/message.ts';
import type { ConversationSnapshot } from '../../core/machine/snapshot.ts';
import { Life } from './life.ts';
import { conversationOf, ITEM, RULES } from './run-life.ts';
import { SANDBOX, USER } from './sandbox-life.ts';

/** Index of its only item in the plan: a shard counts as its run does. */
export const INDEX = 3;

export class ShardLife extends Life<RunState | null, ShardEvent, ShardCommand> {
  private revision = 1;
  private sequence = 0;

  constructor(rules: Partial<RunRules> = {}, item: Partial<RunItemSpec> = {}) {
    super(shardMachine, null);
    const slice = { number: 1, from: INDEX };
    const spec = { runId: runId('r'), userId: USER, name: 'n', planHash: 'h', slice };
    this.send({
      type: 'shardStarted',
      spec: { ...spec, rules: { ...RULES, ...rules, shardItems: INDEX }, items: [{ ...ITEM, ...item }] },
    });
  }

  get its(): RunState {
    if (this.state === null) throw new Error('Cannot look at the shard: it is not born');
    return this.state;
  }

  get item(): RunItem {
    const [item] = this.its.items;
    if (item === undefined) throw new Error('Cannot look at the item: there is none');
    return item;
  }

  directive(change: Partial<ShardDirective> = {}): this {
    this.revision += 1;
    return this.send({ type: 'itemsDirected', directives: [directiveFor(this.its, this.revision, change)] });
  }

  begins(): this {
    return this.directive({ attempt: this.item.attempt + 1 });
  }

  started(): this {
    const { attempt, awaiting } = this.item;
    const conversationId = conversationOf(INDEX, attempt);
    return this.send({
      type: 'conversationStarted',
      commandId: awaiting ?? 'none',
      index: INDEX,
      conversationId,
    });
  }

  notice(change: Partial<ConversationSnapshot> = {}): this {
    this.sequence += 1;
    return this.send(noticed(this.its, { sequence: this.sequence, ...change }));
  }

  works(): this {
    return this.begins().started().notice();
  }

  rests(status: ConversationSnapshot['executionStatus']): this {
    return this.notice({ executionStatus: status, settled: true });
  }

  collected(): this {
    const commandId = this.item.awaiting ?? 'none';
    return this.send({ type: 'itemCollected', commandId, index: INDEX, costNanoUsd: 5 });
  }
}

export function directiveFor(
  state: RunState,
  revision: number,
  change: Partial<ShardDirective> = {},
): ShardDirective {
  const [item] = state.items;
  return {
    index: INDEX,
    revision,
    phase: 'starting',
    attempt: item?.attempt ?? 0,
    ending: null,
    isStopped: false,
    failures: item?.failures ?? {},
    notBefore: null,
    endedAt: null,
    ...change,
  };
}

export function noticed(
  state: RunState,
  change: Partial<ConversationSnapshot> = {},
): Extract<ShardEvent, { readonly type: 'conversationNoticed' }> {
  const [item] = state.items;
  return {
    type: 'conversationNoticed',
    conversation: {
      conversationId: item?.conversationId ?? conversationOf(INDEX, item?.attempt ?? 1),
      itemIndex: INDEX,
      generation: 0,
      sequence: 1_000,
      startTask: 'READY',
      sandboxId: SANDBOX,
      sandboxStatus: 'RUNNING',
      pauseReason: null,
      executionStatus: 'RUNNING',
      interrupted: false,
      limitReached: null,
      settled: false,
      detail: null,
      deleted: false,
      ...change,
    },
  };
}
