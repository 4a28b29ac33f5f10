/**
 * A workflow that lets a text come by everywhere a payload or a failure is written.
 * Owns no rule of the product; runs in the workflow sandbox of a test.
 */
import {
  ApplicationFailure,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  sleep,
  upsertMemo,
} from '@temporalio/workflow';

export interface Told {
  readonly text: string;
  readonly hop: number;
}

export interface TellerActivities {
  echo(told: Told): Promise<Told>;
  refuse(told: Told): Promise<never>;
}

export const told = defineSignal<[Told]>('told');
export const asked = defineUpdate<Told, [Told]>('asked');

const { echo, refuse } = proxyActivities<TellerActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumAttempts: 1 },
});

/** Waits for a signal and an update, passes the text through everything else, and fails with it in the second run. */
export async function teller(input: Told): Promise<void> {
  const seen = { signals: 0, updates: 0 };
  setHandler(told, () => void (seen.signals += 1));
  setHandler(asked, (value) => {
    seen.updates += 1;
    if (value.hop < 0) throw ApplicationFailure.nonRetryable(value.text, 'Refused', value);
    return value;
  });
  if (input.hop === 0) {
    await condition(() => seen.signals >= 1 && seen.updates >= 2);
    upsertMemo({ upserted: input.text });
    await sleep(1, { summary: input.text });
    await continueAsNew<typeof teller>({ text: input.text, hop: 1 });
  }
  await echo(input);
  await refuse(input);
}
