/**
 * Who looks on while a process works on Temporal: its page of metrics, and whoever takes its spans.
 * Owns that the page can be shown before the runtime is there, of which a process has one.
 */
import type { CarrierOptions } from '../../temporal/carrier.ts';
import { openMeters } from '../../telemetry/meters.ts';
import { ensureFree, metricsTelemetry, metricsUrlOf } from '../../telemetry/metrics-endpoint.ts';
import type { WarmMeter } from '../../ports/warm-meter.ts';
import { observed, observedTombstones } from '../../temporal/observe.ts';
import type { Tombstones } from '../../temporal/tombstones.ts';
import type { EngineParts } from './host-engine.ts';
import { openHostSpans } from '../host-spans.ts';
import { installRuntime } from './temporal-log.ts';

export interface TemporalObservers {
  /** Where the metrics are; null when they are not shown. */
  readonly metricsUrl: string | null;
  readonly warmMeter: WarmMeter;
  carrier(options: CarrierOptions): CarrierOptions;
  tombstones(tombstones: Tombstones): Tombstones;
}

type ObserverParts = Pick<EngineParts, 'config' | 'env' | 'closers' | 'onNotice'>;

/**
 * To be called before the first connection: it installs the runtime.
 * @throws ParleyError engine_misconfigured when the page cannot be shown, config_invalid
 */
export async function openObservers(parts: ObserverParts): Promise<TemporalObservers> {
  const { config, onNotice } = parts;
  const { metrics } = config.engine.temporal;
  if (metrics !== null) await ensureFree(metrics);
  const spans = openHostSpans(parts);
  const meter = installRuntime({ onNotice, telemetry: metricsTelemetry(metrics) });
  const observers = { meters: openMeters(meter), spans };
  return {
    warmMeter: observers.meters.warm,
    metricsUrl: metrics === null ? null : metricsUrlOf(metrics),
    carrier: (options) => observed(options, observers),
    tombstones: (tombstones) => observedTombstones(tombstones, observers),
  };
}
