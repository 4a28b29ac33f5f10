/** When sandboxes may come down to plain processes, and what the doctor says of their network. */
import { describe, expect, it } from 'vitest';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import { withRequiredIsolation } from '../../host/sandboxes/required-isolation.ts';
import type { HostOptions } from '../../host/host-port.ts';

const config = (isolation: DeploymentConfig['isolation']): DeploymentConfig =>
  ({ isolation }) as DeploymentConfig;
const RUN: HostOptions = { onNotice: () => undefined };
const WORKER: HostOptions = { ...RUN, isWorker: true };

describe('isolation: auto', () => {
  it.each([
    ['a run on a terminal', RUN, {}, true, 'auto'],
    ['a run without a terminal', RUN, {}, false, 'namespaces'],
    ['a run under CI', RUN, { CI: 'true' }, true, 'namespaces'],
    ['a service', WORKER, {}, true, 'namespaces'],
  ] as const)('in %s', (_, options, env, isTerminal, expected) => {
    expect(withRequiredIsolation(config('auto'), options, { env, isTerminal }).isolation).toBe(expected);
  });

  it('leaves what was chosen', () => {
    const chosen = withRequiredIsolation(config('none'), WORKER, { env: {}, isTerminal: false });
    expect(chosen.isolation).toBe('none');
  });
});
