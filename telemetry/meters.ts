/**
 * What Parley itself counts, beside what the SDK does: commands, tries, looks, letters, rows, answers of the ended.
 * Owns names, units and labels; no label holds an id, because each value of a label is a series of its own.
 */
import type { MetricMeter } from '@temporalio/common';
import type { EntityAddress } from '../core/ids.ts';
import type { ActivityCommandType } from '../core/machine/command.ts';
import type { ProjectionRow } from '../core/machine/projection.ts';
import type { WarmMeter } from '../ports/warm-meter.ts';

export type TryOutcome = 'answered' | 'failed' | 'cut_short';
export type PollOutcome = 'over' | 'again' | 'failed';

export interface Meters {
  readonly warm: WarmMeter;
  /** One command is over: its machine gets an answer. `failed`: the answer that it failed for good. */
  carriedOut(type: ActivityCommandType, outcome: 'answered' | 'failed'): void;
  tried(type: ActivityCommandType, outcome: TryOutcome, durationMs: number): void;
  polled(type: ActivityCommandType, outcome: PollOutcome): void;
  sent(machine: EntityAddress['machine'], outcome: 'sent' | 'failed'): void;
  wrote(rows: readonly ProjectionRow[]): void;
  answeredForEnded(machine: EntityAddress['machine']): void;
}

export const TRY_SECONDS = 'parley_try_duration';

/** Every metric of the engines, under its name and unit. */
export function openMeters(meter: MetricMeter): Meters {
  const commands = meter.createCounter('parley_commands', undefined, 'Commands that are over');
  const tries = meter.createCounter('parley_tries', undefined, 'Tries of commands that do not watch');
  const durations = meter.createHistogram(TRY_SECONDS, 'float', 'seconds', 'How long a try took');
  const polls = meter.createCounter('parley_polls', undefined, 'Polls of idle sandboxes and at agents');
  const envelopes = meter.createCounter('parley_messages_sent', undefined, 'Messages sent to entities');
  const rows = meter.createCounter('parley_rows_written', undefined, 'Rows written to the store');
  const ended = meter.createCounter(
    'parley_tombstone_answers',
    undefined,
    'Envelopes to entities that have ended, answered from their last state',
  );
  return {
    warm: openWarmMeter(meter),
    carriedOut: (command, outcome) => commands.add(1, { command, outcome }),
    tried(command, outcome, durationMs) {
      tries.add(1, { command, outcome });
      durations.record(durationMs / 1_000, { command });
    },
    polled: (command, outcome) => polls.add(1, { command, outcome }),
    sent: (machine, outcome) => envelopes.add(1, { machine, outcome }),
    wrote(written) {
      for (const { table } of written) rows.add(1, { table });
    },
    answeredForEnded: (machine) => ended.add(1, { machine }),
  };
}

function openWarmMeter(meter: MetricMeter): WarmMeter {
  const sandboxes = meter.createGauge(
    'parley_warm_sandboxes',
    'int',
    undefined,
    'Sandboxes of the warm pool',
  );
  const claims = meter.createCounter('parley_warm_claims', undefined, 'Claims on the warm pool');
  const givenUp = meter.createCounter('parley_warm_given_up', undefined, 'Warm sandboxes that were given up');
  return {
    held(held) {
      for (const [state, count] of Object.entries(held)) sandboxes.set(count as number, { state });
    },
    claim: (outcome) => claims.add(1, { outcome }),
    gaveUp: () => givenUp.add(1),
  };
}

/** For an engine without a page of metrics. */
export const SILENT_METERS: Meters = {
  warm: { held: () => undefined, claim: () => undefined, gaveUp: () => undefined },
  carriedOut: () => undefined,
  tried: () => undefined,
  polled: () => undefined,
  sent: () => undefined,
  wrote: () => undefined,
  answeredForEnded: () => undefined,
};
