/**
 * Reports to a run about its pool in odd moments: made before the answer comes, once more, and on the way to its end.
 * Owns the moments; what is said is in probe-events.ts, and the answer that was overtaken comes late by itself.
 */
import type { RunState } from '../../core/run/state.ts';
import { PROBE_EVENTS } from './probe-events.ts';
import type { Probe, ProbedScript, ProbeEvent } from './probe.ts';
import { POOL_SCRIPTS } from './scripts-of-pools.ts';

const { run: SAID } = PROBE_EVENTS;
const TWICE = ['a pool that is made', 'a pool that is made, said again'].map(
  (name) => SAID[name] as ProbeEvent,
);

const isWarming = ({ warming }: RunState): boolean => warming !== undefined;
const hasBegun = ({ items }: RunState): boolean => items[0]?.phase === 'starting';

const MOMENTS: Readonly<Record<string, (run: RunState) => boolean>> = {
  'is made sooner, and twice': isWarming,
  'is said to be made once more': (run) => hasBegun(run) && !isWarming(run),
  'is made for a run on its way to its end': (run) => run.phase === 'cleaning' && isWarming(run),
};

export const POOL_PROBES: readonly ProbedScript[] = POOL_SCRIPTS.filter(({ name }) =>
  name.includes('warmed'),
).flatMap((base) =>
  Object.entries(MOMENTS).map(([moment, when]) => ({
    ...base,
    name: `a pool ${moment}; ${base.name}`,
    probe: probeAt(when),
  })),
);

function probeAt(when: (run: RunState) => boolean): Probe {
  return { machine: 'run', when: (state) => state !== null && when(state as RunState), events: TWICE };
}
