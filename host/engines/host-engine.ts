/**
 * What a host needs of an engine, whichever it is: notifiers, a start and an end.
 * Owns the interface and what an engine is given; must not hold code.
 */
import type { World } from '../../activities/world.ts';
import type { HostLease } from '../../ports/host-leases.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { WarmMeter } from '../../ports/warm-meter.ts';
import type { Store } from '../../store/open-store.ts';
import type { SealKey } from '../../store/access/seal-key.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { EngineFacts } from '../host-port.ts';
import type { Closers } from '../closers.ts';
import type { Environment } from '../config/effective-values.ts';
import type { Leads } from '../proxy/peer-of.ts';
import type { Places } from '../sandboxes/places.ts';

export interface HostEngine {
  readonly facts: EngineFacts;
  /** Absent where no metrics are shown. */
  readonly warmMeter?: WarmMeter;
  /** For activities and callbacks. */
  readonly notices: Notifier;
  /** For the wishes of users. */
  readonly requests: Notifier;
  /** Goes on with everything unfinished. */
  start(): Promise<void>;
  /** Whether it takes work at this moment; never rejects. */
  isReady(): Promise<boolean>;
  /** Takes nothing new, and ends what cannot go on without it. */
  stop(): Promise<void>;
}

export interface EngineParts {
  readonly config: DeploymentConfig;
  readonly places: Places;
  readonly store: Store;
  readonly world: World;
  readonly sealKey: SealKey;
  /** Of the host whose sandboxes this process reaches; null: they are bound to none. */
  readonly lease: HostLease | null;
  readonly leads: Leads;
  readonly env: Environment;
  /** A worker lets what runs end; a command that ends cuts it off. */
  readonly isWorker: boolean;
  /** What the engine opened besides, undone after the endpoints. */
  readonly closers: Closers;
  /** After rows were written. */
  readonly onRows: () => void;
  readonly onNotice: (text: string) => void;
  /** The engine cannot go on, for a reason that it does not mend by itself. */
  readonly onFailure: (error: Error) => void;
}
