/**
 * The way out of sandboxes, when the deployment allows one.
 * Owns its wiring: the rules, and the name server of this host.
 */
import { lookup } from 'node:dns/promises';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { createEgressProxy, type EgressProxy } from '../../runtimes/egress/egress-proxy.ts';
import { parseHostRule, type HostRule } from '../../runtimes/egress/host-rules.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { Places } from './places.ts';

export interface EgressParts {
  readonly config: DeploymentConfig;
  readonly places: Places;
  readonly connectionsMax: number;
  /** Bounded by the caller: a sandbox chooses what is refused. */
  readonly warn: (text: string) => void;
}

/** Null when nothing is allowed. @throws ParleyError config_invalid: a rule is none */
export async function openEgress({
  config,
  places,
  connectionsMax,
  warn,
}: EgressParts): Promise<EgressProxy | null> {
  if (config.egressAllow.length === 0) return null;
  mkdirSync(dirname(places.egressSocket), { recursive: true, mode: 0o700 });
  const egress = createEgressProxy({
    socketPath: places.egressSocket,
    rules: config.egressAllow.map(ruleOf),
    resolve: async (host) =>
      (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address),
    connectionsMax,
    onRefused: warn,
  });
  await egress.listen();
  return egress;
}

function ruleOf(text: string): HostRule {
  const rule = parseHostRule(text);
  if (rule !== null) return rule;
  throw new ParleyError('config_invalid', `Cannot allow "${text}" in runtime.egress.allow: it names no host`);
}
