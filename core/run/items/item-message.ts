/**
 * What comes back about one item, to the run or the shard that hosts it, and what a shard reports to its run.
 * Owns the unions; every event is a past fact.
 */
import type { ConversationId, SandboxId } from '../../ids.ts';
import type { ItemPhase } from '../../machine/projection.ts';
import type { SandboxStatus } from '../../status.ts';
import type { Ending } from '../state.ts';
import type { LostSandbox } from './lost-sandbox.ts';

/** Answers to what is ordered for an item: they come to its host, the run or a shard of it. */
export type ItemAnswer =
  | {
      readonly type: 'conversationStarted';
      readonly commandId: string;
      readonly index: number;
      readonly conversationId: ConversationId;
    }
  /** The start request itself could not be made: an unknown secret, a missing plan. */
  | {
      readonly type: 'startRefused';
      readonly commandId: string;
      readonly index: number;
      readonly reason: string;
    }
  | {
      readonly type: 'itemVerified';
      readonly commandId: string;
      readonly index: number;
      readonly passed: boolean;
      readonly detail: string | null;
    }
  /** The check could not be run: says nothing about the work. */
  | {
      readonly type: 'verifyFailed';
      readonly commandId: string;
      readonly index: number;
      readonly reason: string;
      /** The sandbox in which it was to run; absent where that was there. */
      readonly lost?: LostSandbox;
    }
  | {
      readonly type: 'itemCollected';
      readonly commandId: string;
      readonly index: number;
      readonly costNanoUsd: number;
      /** Which results were withheld for a secret (D20); absent when none was. */
      readonly withheld?: string;
      /** The sandbox whose workspace was to be collected from; absent where that was there, or where none was to be. */
      readonly lost?: LostSandbox;
    }
  | {
      readonly type: 'collectFailed';
      readonly commandId: string;
      readonly index: number;
      readonly reason: string;
      /** Of the attempt, which costs what it cost (D30); absent when it could not be read either. */
      readonly costNanoUsd?: number;
    };

/** What shards report to their run. */
export type ShardReport =
  /** `items`: how many it has; absent from one that an older build began. */
  | { readonly type: 'shardReady'; readonly number: number; readonly items?: number }
  | {
      readonly type: 'attemptEnded';
      readonly index: number;
      readonly attempt: number;
      /** `waiting` when its class is tried again. */
      readonly phase: Extract<ItemPhase, 'waiting' | 'ended'>;
      readonly ending: Ending;
      readonly notBefore: number | null;
      /** Of all attempts so far, integer nano-USD. */
      readonly costNanoUsd: number;
      readonly conversationId: ConversationId | null;
      readonly sandboxId: SandboxId | null;
      readonly sandboxStatus: SandboxStatus | null;
      readonly isUncollected: boolean;
    };
