/**
 * What a proxy has in common with others over one database, put together.
 * Owns what follows when another proxy has changed something or was given up.
 */
import { readModelEntry } from '../config/model-entry.ts';
import type { ProxyLog } from '../log.ts';
import type { ProxyParts, SharedParts } from '../proxy-parts.ts';
import { PeerLife } from './peer-life.ts';
import type { ProxySharing } from './proxy-sharing.ts';
import { SharedLimits } from './shared-limits.ts';
import { SharedModels } from './shared-models.ts';

export interface SharedContext {
  readonly clock: { now(): number };
  readonly newId: () => string;
  readonly log: ProxyLog;
  /** Called once the proxy serves. */
  readonly parts: () => ProxyParts;
}

export function openShared(sharing: ProxySharing, context: SharedContext): SharedParts {
  const { clock, newId, log } = context;
  const models = new SharedModels({
    vault: sharing.vault,
    log,
    read: (body, problems) => {
      const { env, vendor, live } = context.parts();
      const { customHeaders } = live.config;
      return readModelEntry(body, { env, vendor, customHeaders, path: 'request_body', problems });
    },
  });
  const life: PeerLife = new PeerLife({
    ...{ peers: sharing.peers, leases: sharing.leases, clock, newId, log },
    async onChange(isFirst) {
      const parts = context.parts();
      parts.virtualKeys?.forget();
      if (isFirst) await models.forgetAll();
      parts.live.models.replaceAdded(await models.all());
    },
    onLost: () => limits.forfeit(),
    ...(sharing.tendOrphans === undefined ? {} : { tendOrphans: sharing.tendOrphans }),
  });
  const limits = new SharedLimits(life);
  return { life, limits, models };
}
