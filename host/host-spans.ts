/**
 * Where the spans of a host go, the same for both engines: the collector that the deployment or the environment names.
 * Owns opening and closing; must not know what spans report.
 */
import { openSpans, type Spans } from '../telemetry/otlp-exporter.ts';
import type { EngineParts } from './engines/host-engine.ts';
import { programVersion } from './program-version.ts';

type SpanParts = Pick<EngineParts, 'config' | 'env' | 'closers' | 'onNotice'>;

/** Null when there is no collector for them. @throws ParleyError config_invalid */
export function openHostSpans({ config, env, closers, onNotice }: SpanParts): Spans | null {
  const { otlpEndpoint } = config.engine;
  const named = otlpEndpoint === null ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: otlpEndpoint };
  const spans = openSpans({ env: { ...env, ...named }, version: programVersion(), onNotice });
  if (spans !== null) closers.add(() => spans.close());
  return spans;
}
