/**
 * What the routes share.
 * Owns the bundle and the counters; must not hold state of one call.
 */
import type { HeldBytes } from '../core/shares/held-bytes.ts';
import type { SpendAccounts } from '../ports/spend-accounts.ts';
import type { SpendLog } from '../ports/spend-log.ts';
import type { CallMetrics } from './admin/call-metrics.ts';
import type { FindCaller } from './keys/caller.ts';
import type { ProxyConfig } from './config/config.ts';
import type { Environment } from './config/environment.ts';
import type { GatewayPools } from './relay/gateway-pools.ts';
import type { SandboxConnections } from './listener.ts';
import type { ProxyLog } from './log.ts';
import type { ModelTable } from './config/model-table.ts';
import type { OpenCalls } from './relay/open-calls.ts';
import type { HeaderRule } from './relay/request-headers.ts';
import type { RunBudgets } from './keys/run-budgets.ts';
import type { SpendWriter } from './spend/spend-writer.ts';
import type { PeerLife } from './peers/peer-life.ts';
import type { SharedLimits } from './peers/shared-limits.ts';
import type { SharedModels } from './peers/shared-models.ts';
import type { VirtualKeys } from './keys/virtual-keys.ts';

/** What this proxy has in common with others over one database. */
export interface SharedParts {
  readonly life: PeerLife;
  readonly limits: SharedLimits;
  readonly models: SharedModels;
}

/** What a reload replaces as a whole. */
export interface LiveConfig {
  readonly config: ProxyConfig;
  readonly headerRule: HeaderRule;
  readonly models: ModelTable;
}

export interface ProxyParts {
  /** Replaced by a reload; code that uses it twice for one call reads it once. */
  live: LiveConfig;
  readonly vendor: string;
  readonly env: Environment;
  readonly findCaller: FindCaller;
  readonly pools: GatewayPools;
  readonly spend: SpendLog;
  /** Null in a proxy that keeps no virtual keys and no totals. */
  readonly accounts: SpendAccounts | null;
  readonly virtualKeys: VirtualKeys | null;
  /** Null in a proxy that serves no runs. */
  readonly runBudgets: RunBudgets | null;
  readonly writer: SpendWriter;
  /** Null where no other proxy uses the store. */
  readonly shared: SharedParts | null;
  readonly clock: { now(): number };
  readonly newId: () => string;
  readonly log: ProxyLog;
  readonly counters: CallCounters;
  readonly metrics: CallMetrics;
  readonly openCalls: OpenCalls;
  readonly sandboxes: SandboxConnections;
  /** Bodies of calls in flight. */
  readonly bodies: HeldBytes;
  /** The same by their headers: a body that cannot fit beside its caller's others is not read at all. */
  readonly announced: HeldBytes;
  /** The proxy takes no new call and ends those in flight. */
  isDraining: boolean;
}

/** Calls since the start. A call counts when its spend row opens. */
export interface CallCounters {
  callsTotal: number;
  succeeded: number;
  failed: number;
  aborted: number;
  /** Ended without a price (D26). */
  unpriced: number;
  /** Configurations taken and refused since the start. */
  reloads: number;
  reloadFailures: number;
}
