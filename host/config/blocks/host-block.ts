/**
 * The block `host` as plain data.
 * Owns what empty and zero stand for.
 */
import type { HostStrategy } from '../../../core/placement/choose-host.ts';
import { SECOND_MS } from '../../../core/time.ts';
import type { ConfigParts } from '../config-parts.ts';
import type { HostConfig } from '../deployment-config.ts';
import { numberOf, textOf, type EffectiveValue } from '../effective-values.ts';

export function hostOf({ document }: ConfigParts, values: readonly EffectiveValue[]): HostConfig {
  const relay = textOf(values, 'host.relay');
  return {
    name: textOf(values, 'host.name') || null,
    capacity: numberOf(values, 'host.capacity') || null,
    labels: document.host?.labels ?? {},
    leaseMs: numberOf(values, 'host.lease') * SECOND_MS,
    lostAfterMs: numberOf(values, 'host.lost_after') * SECOND_MS,
    strategy: textOf(values, 'host.placement') as HostStrategy,
    relay: relay === '' ? null : { address: relay, listen: textOf(values, 'host.relay_listen') },
  };
}
