/** The scripts reach every transition of every table, every pause reason and every strategy; and the comparison can fail. */
import { describe, expect, it } from 'vitest';
import { GROUPING_STRATEGIES, PAUSE_REASONS } from '../../core/status.ts';
import { MACHINE_TABLES } from '../../simulator/machine-tables.ts';
import { playSimulated } from './play-simulated.ts';
import { BASES, probedScripts } from './probed-scripts.ts';
import { WORK_SCRIPTS } from './scripts-of-work.ts';

/** A deadline that is not due changes nothing, so that no step shows it: where it strikes early, and stays. */
const SILENT = [
  ...['starting', 'running', 'released', 'resuming', 'error'].map((phase) => `sandbox ${phase}`),
  ...['attaching', 'waitingForSandbox', 'preparingRepository', 'runningSetupScript'].map(
    (phase) => `conversation ${phase}`,
  ),
  ...['settingUpGitHooks', 'settingUpSkills', 'startingConversation', 'deleting'].map(
    (phase) => `conversation ${phase}`,
  ),
  ...['cleaning', 'settling'].map((phase) => `run ${phase}`),
].map((entity) => `${entity} deadline ${entity.split(' ')[1] ?? ''}`);

/**
 * What takes a message between two machines that is on its way for longer than an instant, or a start request that
 * hangs for longer than a whole job. Neither driver has the first; campaigns and races go there.
 */
const DELAYED = [
  'conversation attaching deleteRequested deleting',
  'conversation attaching metadataChanged attaching',
  'conversation attaching messageReceived attaching',
  'conversation attaching interruptRequested startFailed',
  'conversation attaching deadline startFailed',
  'conversation attaching sandboxNoticed attaching',
  'run running deadline cleaning',
  // A shard says so in the instant in which its run begins.
  ...['cleaning', 'settling', 'reconciling', 'reporting', 'closing', 'finished'].map(
    (phase) => `run ${phase} shardReady ${phase}`,
  ),
];

function transitions(): string[] {
  return Object.entries(MACHINE_TABLES).flatMap(([machine, table]) =>
    Object.entries(table).flatMap(([phase, row]) =>
      Object.entries(row).flatMap(([event, cell]) =>
        (cell?.to ?? []).map((next) => `${machine} ${phase} ${event} ${next}`),
      ),
    ),
  );
}

describe('the scripts', () => {
  const taken = new Set<string>();
  const pauseReasons = new Set<unknown>();
  const strategies = new Set<string>();
  const onlyTakenBack = new Set<string>();
  for (const script of [...BASES, ...probedScripts()]) {
    for (const [entity, steps] of playSimulated(script).traces.byEntity) {
      let before: unknown = null;
      for (const { event, view, orders } of steps) {
        if (orders.length > 0 && orders.every((order) => order.startsWith('cancel ')))
          onlyTakenBack.add(`${entity.split('/')[0] ?? ''} ${event}`);
        if (before !== null)
          taken.add(`${entity.split('/')[0] ?? ''} ${String(before)} ${event} ${String(view['phase'])}`);
        if (entity.startsWith('sandbox/')) pauseReasons.add(view['pauseReason']);
        before = view['phase'];
      }
    }
    for (const { action } of script.steps)
      if (action.do === 'start') strategies.add(action.strategy ?? script.policy.grouping);
  }
  const sorted = (values: Iterable<unknown>) => [...values].map(String).sort();

  it('take every transition of the tables', () => {
    const missing = transitions().filter((one) => !taken.has(one));
    expect(sorted(missing)).toEqual(sorted([...SILENT, ...DELAYED]));
  });

  it('take none that stands in no table', () => {
    const known = new Set(transitions());
    expect([...taken].filter((one) => !known.has(one))).toEqual([]);
  });

  it('take no step that only takes an order back', () => {
    // On Temporal a replay may see two tasks as one: it speaks where one of them did only if something is left to say.
    expect([...onlyTakenBack]).toEqual([]);
  });

  it('reach every pause reason and every strategy', () => {
    expect(sorted(pauseReasons)).toEqual(sorted([null, ...PAUSE_REASONS]));
    expect(sorted(strategies)).toEqual(sorted(GROUPING_STRATEGIES));
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
