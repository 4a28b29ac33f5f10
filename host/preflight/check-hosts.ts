/**
 * Whether a job that names a host, or labels of one, can have it here.
 * Owns the finding for a deployment whose sandboxes are bound to no host; one that is not there yet is waited for, and
 * the run says so.
 */
import { describePin, hostPin } from '../../core/placement/choose-host.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { failed, type Finding } from '../finding.ts';
import { isHostBound } from '../sandboxes/hosted.ts';

type Config = Pick<DeploymentConfig, 'engine' | 'store' | 'runtimeKind'>;

export function checkHosts({ placement }: Pick<Plan, 'placement'>, config: Config): readonly Finding[] {
  const pin = hostPin(placement);
  if (pin === undefined || isHostBound(config)) return [];
  const why =
    config.runtimeKind === 'kubernetes'
      ? 'pods are bound to no host of Parley'
      : 'only workers on Temporal over one PostgreSQL are hosts';
  const remedy = 'remove placement.host and placement.labels; docs/hosts.md says what hosts take';
  return [failed('host', `the job wants ${describePin(pin)}, but ${why}`, remedy)];
}
