/**
 * `GET /metrics` in Prometheus' text form.
 * Owns the names of the metrics; must not count anything itself.
 */
import type { Exchange } from '../relay/http-exchange.ts';
import type { ProxyParts } from '../proxy-parts.ts';

const PREFIX = 'parley_proxy';

/** Kind and meaning of each metric, in the order of the reply. */
const METRICS: readonly (readonly [name: string, type: 'counter' | 'gauge', help: string])[] = [
  ['calls_total', 'counter', 'Calls sent to a gateway that have ended.'],
  ['tokens_total', 'counter', 'Tokens as gateways counted them.'],
  ['cost_nano_usd_total', 'counter', 'Cost of the priced calls in nano-USD.'],
  ['unpriced_calls_total', 'counter', 'Calls that have no price.'],
  ['calls_in_flight', 'gauge', 'Calls that have not ended.'],
  ['spool_bytes', 'gauge', 'Spend rows on disk that the store does not have yet.'],
  ['store_reachable', 'gauge', '1 while the store takes spend rows.'],
  ['event_loop_delay_seconds', 'gauge', 'How late the process gets to its work, since its start.'],
  ['shared_limit_leased', 'gauge', 'What this process may use of limits that it shares, by their unit.'],
  ['config_reloads_total', 'counter', 'Configurations that replaced an earlier one.'],
  ['config_reload_failures_total', 'counter', 'Configurations that were refused.'],
];

export function showMetrics(parts: ProxyParts, exchange: Exchange): void {
  const samples = new Map<string, readonly string[]>([
    ...parts.metrics.samples(),
    ['calls_in_flight', [` ${parts.openCalls.size}`]],
    ['spool_bytes', [` ${parts.writer.spoolBytes}`]],
    ['store_reachable', [` ${parts.writer.isStoreReachable ? 1 : 0}`]],
    ['event_loop_delay_seconds', [0.5, 0.99].map((share) => parts.metrics.loopDelay(share))],
    ['shared_limit_leased', leased(parts)],
    ['config_reloads_total', [` ${parts.counters.reloads}`]],
    ['config_reload_failures_total', [` ${parts.counters.reloadFailures}`]],
  ]);
  const lines = METRICS.flatMap(([name, type, help]) => [
    `# HELP ${PREFIX}_${name} ${help}`,
    `# TYPE ${PREFIX}_${name} ${type}`,
    ...(samples.get(name) ?? []).map((sample) => `${PREFIX}_${name}${sample}`),
  ]);
  const histogram = `${PREFIX}_call_duration_seconds`;
  const text = [
    ...lines,
    `# HELP ${histogram} From the sending of a call to its end.`,
    `# TYPE ${histogram} histogram`,
    ...parts.metrics.histogram(histogram),
    '',
  ].join('\n');
  exchange.res.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
  exchange.res.end(text);
}

/** Nothing where one proxy serves alone. */
function leased({ shared }: ProxyParts): readonly string[] {
  return [...(shared?.limits.shares() ?? [])].map(([unit, amount]) => `{unit="${unit}"} ${amount}`);
}
