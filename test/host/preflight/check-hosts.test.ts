/** A job that names a host, where there are hosts and where there are none. */
import { expect, it } from 'vitest';
import { checkHosts } from '../../../host/preflight/preflight.ts';
import type { Plan } from '../../../core/plan/plan.ts';

const NO_PIN: Pick<Plan, 'placement'> = { placement: { strategy: null, sandboxId: null } };
const PINNED: Pick<Plan, 'placement'> = {
  placement: { ...NO_PIN.placement, host: 'gpu-1', labels: { gpu: '<b>' } },
};
type Config = Parameters<typeof checkHosts>[1];
const config = (engine: string, store: string, runtimeKind: string): Config =>
  ({ engine: { kind: engine }, store: { kind: store }, runtimeKind }) as Config;

it('is well where workers are hosts, and where the job names none', () => {
  expect(checkHosts(PINNED, config('temporal', 'postgres', 'docker'))).toEqual([]);
  expect(checkHosts(NO_PIN, config('embedded', 'sqlite', 'process'))).toEqual([]);
});

it.each([
  ['embedded', 'sqlite', 'process', 'only workers on Temporal over one PostgreSQL are hosts'],
  ['temporal', 'sqlite', 'process', 'only workers on Temporal over one PostgreSQL are hosts'],
  ['temporal', 'postgres', 'kubernetes', 'pods are bound to no host of Parley'],
])('keeps a run from beginning on %s, %s and %s', (engine, store, runtime, why) => {
  expect(checkHosts(PINNED, config(engine, store, runtime))).toEqual([
    {
      ...{ check: 'host', status: 'failed' },
      detail: `the job wants the host "gpu-1" with the labels gpu: <b>, but ${why}`,
      remedy: expect.stringContaining('remove placement.host') as string,
    },
  ]);
});
