/**
 * What the handlers of the application API work with.
 * Owns the bundle; must not hold code.
 */
import type { World } from '../../activities/world.ts';
import type { SandboxId, UserId } from '../../core/ids.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { AgentRelay } from '../../ports/agent-relay.ts';
import type { ApiKeyStore, KeyScope } from '../../ports/api-keys.ts';
import type { AuditLog } from '../../ports/audit-log.ts';
import type { EventSearch } from '../../ports/event-search.ts';
import type { EventWakes } from '../../ports/event-wakes.ts';
import type { IdempotencyKeys } from '../../ports/idempotency-keys.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { Overview } from '../../ports/overview.ts';
import type { ProxyKeyStore } from '../../ports/proxy-keys.ts';
import type { RateMeter } from '../../ports/rate-meter.ts';
import type { RecordSearch } from '../../ports/record-search.ts';
import type { RunLog } from '../../ports/record-store.ts';
import type { SpendAccounts } from '../../ports/spend-accounts.ts';
import type { StartTaskStore } from '../../ports/start-tasks.ts';
import type { Troubles } from '../../ports/troubles.ts';
import type { UserDocuments } from '../../ports/user-documents.ts';
import type { ConfigurationDesk } from '../configuration/configuration-desk.ts';
import type { JobCompiler } from '../jobs/job-compiler.ts';
import type { JobSimulator } from '../jobs/job-simulator.ts';
import type { Dialect } from './dialect.ts';

export interface ApplicationStores {
  readonly search: RecordSearch;
  readonly startTasks: StartTaskStore;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly apiKeys: ApiKeyStore;
  readonly documents: UserDocuments;
  readonly audit: AuditLog;
  readonly eventSearch: EventSearch;
  readonly eventWakes: EventWakes;
  /** Null where no other service counts requests. */
  readonly rateMeter: RateMeter | null;
  readonly runLog: RunLog;
  readonly troubles: Pick<Troubles, 'open'>;
  readonly overview: Overview;
  readonly proxyKeys: ProxyKeyStore;
  readonly accounts: Pick<SpendAccounts, 'spentBy'>;
}

/** Everything that the routes of the application API stand on. */
export interface Application extends ApplicationStores {
  readonly world: World;
  /** For the wishes of users; accepted durably when it returns. */
  readonly requests: Notifier;
  readonly relay: AgentRelay;
  readonly dialect: Dialect;
  /** The file this service was started with; null where there is none to change. */
  readonly configuration: ConfigurationDesk | null;
  /** Names that the proxy lists. */
  readonly models: readonly string[];
  /** Where clients reach this server, without a trailing slash; known once it listens. */
  publicUrl(): string;
  /** An address of its own for what is below this path of a sandbox; null or absent where there is none. */
  agentAddress?(sandboxId: SandboxId, path: string): string | null;
  readonly jobs: JobCompiler;
  /** Null where nothing is played. */
  readonly simulator: JobSimulator | null;
  /** The hash that a plan must have. */
  planHash(plan: Plan): string;
  /** Lower-case hex digits. */
  randomHex(digits: number): string;
  readonly version: string;
}

/** Who calls: the holder of an API key. */
export interface Principal {
  readonly kind: 'key';
  readonly userId: UserId;
  readonly keyId: number;
  readonly keyName: string | null;
  readonly scope: KeyScope;
}

/** Who calls: whatever holds the session key of a sandbox's present generation (D5, D14). */
export interface SandboxCaller {
  readonly kind: 'sandbox';
  readonly userId: UserId;
  readonly sandboxId: SandboxId;
  readonly generation: number;
}

/** Null: everybody's. */
export function whoseRecords({ scope, userId }: Pick<Principal, 'scope' | 'userId'>): UserId | null {
  return scope === 'admin' ? null : userId;
}
