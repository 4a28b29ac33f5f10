/**
 * `/health` and what is below it.
 * Owns what healthy means: the proxy itself, never a model; no route here calls one.
 */
import { sendJson, type Exchange } from '../relay/http-exchange.ts';
import { SPOOL_BYTES_MAX } from '../limits.ts';
import type { ProxyParts } from '../proxy-parts.ts';

export function showLiveness(_parts: ProxyParts, { res }: Exchange): void {
  sendJson(res, 200, "I'm alive!");
}

/** Ready even while the store is away, because the spool takes the rows; not while it ends, or cannot keep a row. */
export function showReadiness(parts: ProxyParts, { res }: Exchange): void {
  const spend = parts.writer.isStoreReachable ? 'connected' : 'spooling';
  const state = parts.isDraining
    ? 'draining'
    : parts.writer.spoolBytes > SPOOL_BYTES_MAX
      ? 'spool full'
      : null;
  if (state === null) sendJson(res, 200, { status: 'healthy', spend });
  else sendJson(res, 503, { status: state, spend });
}

/** What the calls of each entry came to; an entry counts as unhealthy when its last call failed. */
export function showHealth(parts: ProxyParts, { res }: Exchange): void {
  const { models } = parts.live;
  const rows = models.entries().map((entry) => {
    const state = models.states.of(entry);
    return {
      model_name: entry.modelName,
      model_id: entry.id,
      calls: state?.calls ?? 0,
      failures: state?.failures ?? 0,
      in_flight: state?.inFlight ?? 0,
      last_status: state?.lastStatus ?? null,
      last_ended_at: state?.lastEndedAt ?? null,
      isHealthy: state?.lastSucceeded ?? true,
    };
  });
  const shown = (isHealthy: boolean): object[] =>
    rows.filter((row) => row.isHealthy === isHealthy).map(({ isHealthy: _said, ...row }) => row);
  const [healthy, unhealthy] = [shown(true), shown(false)];
  sendJson(res, 200, {
    healthy_endpoints: healthy,
    unhealthy_endpoints: unhealthy,
    healthy_count: healthy.length,
    unhealthy_count: unhealthy.length,
  });
}
