/**
 * Everything an activity may reach: ports, and nothing else.
 * Owns the bundle; which implementation stands behind a port is decided by the outermost shell.
 */
import type { SandboxId } from '../core/ids.ts';
import type { AgentServer } from '../ports/agent-server.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { BranchDelivery } from '../ports/branch-delivery.ts';
import type { CloneDirectory } from '../ports/clone-directory.ts';
import type { CodeHostApi } from '../ports/code-host-api.ts';
import type { Clock } from '../ports/clock.ts';
import type { Deployment } from '../ports/deployment.ts';
import type { GatewayExport } from '../ports/gateway-export.ts';
import type { HostWay } from '../ports/host-leases.ts';
import type { KeyMinter } from '../ports/key-minter.ts';
import type { Notifier } from '../ports/notifier.ts';
import type { PlacementStore } from '../ports/placement-store.ts';
import type {
  ActivityStore,
  ArchiveStore,
  EventLog,
  LifecycleLog,
  PlanStore,
  RecordStore,
  WorkspaceStore,
} from '../ports/record-store.ts';
import type { Results } from '../ports/results.ts';
import type { SandboxRuntime } from '../ports/sandbox-runtime.ts';
import type { SecretSource } from '../ports/secret-source.ts';
import type { SecretVault } from '../ports/secret-vault.ts';
import type { SpendLog } from '../ports/spend-log.ts';
import type { WarmPool } from '../ports/warm-pool.ts';
import type { WebhookSender } from '../ports/webhook-sender.ts';

export interface World {
  readonly runtime: SandboxRuntime;
  readonly agent: AgentServer;
  /** The way to a sandbox that lives on another host; null for any other. Absent: there are no hosts. */
  readonly otherHost?: (sandboxId: SandboxId) => Promise<HostWay | null>;
  readonly clones: CloneDirectory;
  readonly branches: BranchDelivery;
  readonly codeHostApi: Pick<CodeHostApi, 'providerOf' | 'pullRequest'>;
  readonly placement: PlacementStore;
  readonly warmPool: WarmPool;
  readonly records: RecordStore;
  readonly plans: PlanStore;
  readonly events: EventLog;
  readonly lifecycle: LifecycleLog;
  readonly activity: ActivityStore;
  readonly workspaces: WorkspaceStore;
  readonly archives: ArchiveStore;
  readonly spend: SpendLog;
  readonly vault: SecretVault;
  readonly blobs: BlobStore;
  readonly results: Results;
  readonly gatewayExport: GatewayExport;
  readonly secrets: SecretSource;
  readonly keys: KeyMinter;
  readonly notifier: Notifier;
  readonly webhooks: WebhookSender;
  readonly deployment: Deployment;
  readonly clock: Clock;
}
