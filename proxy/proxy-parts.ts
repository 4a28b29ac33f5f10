/**
 * What the routes share.
 * Owns the bundle and the counters; must not hold state of one call.
 */
import type { ProxyConfig } from './config.ts';
import type { FindCaller } from './caller.ts';
import type { Environment } from './environment.ts';
import type { GatewayCall } from './gateway-call.ts';
import type { GatewayPools } from './gateway-pools.ts';
import type { ProxyLog } from './log.ts';
import type { ModelTable } from './model-table.ts';
import type { HeaderRule } from './request-headers.ts';
import type { SpendLog } from '../ports/spend-log.ts';
import type { SpendWriter } from './spend-writer.ts';

export interface ProxyParts {
  readonly config: ProxyConfig;
  readonly vendor: string;
  readonly env: Environment;
  readonly findCaller: FindCaller;
  readonly headerRule: HeaderRule;
  readonly models: ModelTable;
  readonly pools: GatewayPools;
  readonly spend: SpendLog;
  readonly writer: SpendWriter;
  readonly clock: { now(): number };
  readonly newId: () => string;
  readonly log: ProxyLog;
  readonly counters: CallCounters;
  /** Calls that were sent and have not ended. */
  readonly openCalls: Set<GatewayCall>;
}

/** Calls since the start. A call counts when its spend row opens. */
export interface CallCounters {
  callsTotal: number;
  succeeded: number;
  failed: number;
  aborted: number;
  /** Ended without a price (D26). */
  unpriced: number;
}
