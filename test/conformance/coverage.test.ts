/** The scripts reach every phase of every machine, every pause reason and every strategy; and the comparison can fail. */
import { describe, expect, it } from 'vitest';
import { CONVERSATION_PHASES } from '../../core/conversation/state.ts';
import { RUN_PHASES } from '../../core/run/state.ts';
import { SANDBOX_PHASES } from '../../core/sandbox/state.ts';
import { GROUPING_STRATEGIES, PAUSE_REASONS } from '../../core/status.ts';
import { playSimulated } from './play-simulated.ts';
import { SANDBOX_SCRIPTS } from './scripts-of-sandboxes.ts';
import { WORK_SCRIPTS } from './scripts-of-work.ts';

describe('the scripts', () => {
  const seen = new Map<string, Set<unknown>>();
  const note = (what: string, value: unknown): void => {
    const values = seen.get(what) ?? new Set();
    seen.set(what, values.add(value));
  };
  for (const script of [...SANDBOX_SCRIPTS, ...WORK_SCRIPTS]) {
    for (const [entity, steps] of playSimulated(script).traces.byEntity) {
      const machine = entity.split('/')[0] ?? '';
      for (const { view } of steps) {
        note(`${machine} phase`, view['phase']);
        if (machine === 'sandbox') note('pause reason', view['pauseReason']);
      }
    }
    for (const { action } of script.steps)
      if (action.do === 'start') note('strategy', action.strategy ?? script.policy.grouping);
  }
  const sorted = (values: Iterable<unknown>) => [...values].map(String).sort();

  it.each([
    ['sandbox phase', SANDBOX_PHASES],
    ['conversation phase', CONVERSATION_PHASES],
    ['run phase', RUN_PHASES],
    ['pause reason', [null, ...PAUSE_REASONS]],
    ['strategy', GROUPING_STRATEGIES],
  ])('reach every %s', (what, all) => {
    expect(sorted(seen.get(what) ?? [])).toEqual(sorted(all));
  });

  it('are told apart by a millisecond', () => {
    const [script] = WORK_SCRIPTS;
    if (script === undefined) throw new Error('there is no script');
    const { agentCall } = script.models;
    const slower = {
      ...script,
      models: { ...script.models, agentCall: { kind: 'fixed', value: 201 } as const },
    };
    expect(agentCall).toEqual({ kind: 'fixed', value: 200 });
    expect(playSimulated(slower).traces.byEntity).not.toEqual(playSimulated(script).traces.byEntity);
  });
});
