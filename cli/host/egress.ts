/**
 * The way out of sandboxes, when the deployment allows one.
 * Owns its wiring: the rules, and the name server of this host; what is refused is told once for each target.
 */
import { lookup } from 'node:dns/promises';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { createEgressProxy, type EgressProxy } from '../../runtimes/egress/egress-proxy.ts';
import { parseHostRule, type HostRule } from '../../runtimes/egress/host-rules.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import type { Places } from './places.ts';

/** Refusals that are remembered, so that a loop inside does not fill the screen. */
const TOLD_MAX = 256;

export interface EgressParts {
  readonly config: DeploymentConfig;
  readonly places: Places;
  readonly warn: (text: string) => void;
}

/** Null when nothing is allowed. @throws ParleyError config_invalid: a rule is none */
export async function openEgress({ config, places, warn }: EgressParts): Promise<EgressProxy | null> {
  if (config.egressAllow.length === 0) return null;
  mkdirSync(dirname(places.egressSocket), { recursive: true, mode: 0o700 });
  const told = new Set<string>();
  const egress = createEgressProxy({
    socketPath: places.egressSocket,
    rules: config.egressAllow.map(ruleOf),
    resolve: async (host) =>
      (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address),
    onRefused: (text) => {
      if (told.has(text) || told.size >= TOLD_MAX) return;
      told.add(text);
      warn(text);
    },
  });
  await egress.listen();
  return egress;
}

function ruleOf(text: string): HostRule {
  const rule = parseHostRule(text);
  if (rule !== null) return rule;
  throw new ParleyError('config_invalid', `Cannot allow "${text}" in runtime.egress.allow: it names no host`);
}
