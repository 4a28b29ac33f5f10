/**
 * What a proxy has in common with others over one database, put together.
 * Owns what follows when another proxy has changed something or was given up.
 */
import { readModelEntry } from '../config/model-entry.ts';
import type { ProxyLog } from '../log.ts';
import type { ProxyParts, SharedParts } from '../proxy-parts.ts';
import type { ProxySharing } from './proxy-sharing.ts';
import { SharedLimits } from './shared-limits.ts';
import { SharedModels } from './shared-models.ts';

export interface SharedContext {
  readonly log: ProxyLog;
  /** Called once the proxy serves. */
  readonly parts: () => ProxyParts;
}

export function openShared(sharing: ProxySharing, context: SharedContext): SharedParts {
  const { log } = context;
  const models = new SharedModels({
    vault: sharing.vault,
    log,
    read: (body, problems) => {
      const { env, vendor, live } = context.parts();
      const { customHeaders } = live.config;
      return readModelEntry(body, { env, vendor, customHeaders, path: 'request_body', problems });
    },
  });
  const { life } = sharing;
  const limits = new SharedLimits(life);
  life.serve({
    async onChange(isFirst) {
      const parts = context.parts();
      parts.virtualKeys?.forget();
      if (isFirst) await models.forgetAll();
      parts.live.models.replaceAdded(await models.all());
    },
    onLost: () => limits.forfeit(),
  });
  return { life, limits, models };
}
