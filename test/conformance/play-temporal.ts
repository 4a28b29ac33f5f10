/** Plays a script on Temporal under time skipping, every step settled before the next. Owns nothing but the pace. */
import { act, type Script } from '../../simulator/script.ts';
import { addressKey } from '../../core/ids.ts';
import type { StepRecord } from '../../workflows/entity.ts';
import { EntityTraces } from './entity-traces.ts';
import type { LateTraces } from './temporal/same-traces.ts';
import { openTemporalStage, type TemporalStage } from './temporal/temporal-stage.ts';

/** Events of a history before a run is continued as new, where a script is not about that. */
const EVENTS_MAX = 2_000;

/** Real time that one script may take; its server is killed then. */
const WALL_MS = 90_000;

export interface PlayedOnTemporal extends LateTraces {
  /** Runs of all workflows: one for each entity unless some were continued as new. */
  readonly runs: number;
}

export async function playTemporal(
  script: Script,
  { eventsMax = EVENTS_MAX }: { readonly eventsMax?: number } = {},
): Promise<PlayedOnTemporal> {
  const steps: { readonly step: StepRecord; readonly passedMs: number }[] = [];
  const stage = await openTemporalStage(script, eventsMax, (step) =>
    steps.push({ step, passedMs: stage.passedMs }),
  );
  try {
    await within(WALL_MS, playOn(stage, script));
  } finally {
    await stage.close();
  }
  const { startAt, unrest } = stage;
  const traces = new EntityTraces(startAt);
  const passedMs = new Map<string, number[]>();
  for (const { step, passedMs: ms } of steps) {
    traces.add(step);
    const key = addressKey(step.address);
    passedMs.set(key, [...(passedMs.get(key) ?? []), ms]);
  }
  return { traces, startAt, passedMs, runs: unrest.runs };
}

/** Leaps from one instant at which something happens to the next: the model's, a timer's, the script's. */
async function playOn(stage: TemporalStage, script: Script): Promise<void> {
  const { port, unrest, startAt, world } = stage;
  const people = { world, deliver: stage.request.bind(stage) };
  const actions = [...script.steps.entries()];
  for (;;) {
    const [number, action] = actions[0] ?? [0, null];
    const actionAt = startAt + (action?.atMs ?? Infinity);
    const at = Math.min(actionAt, port.nextAt, unrest.nextTimerAt);
    if (at > startAt + script.untilMs) return;
    await stage.leapTo(at);
    await stage.settle();
    if (action === null || at < actionAt) continue;
    actions.shift();
    act(people, action.action, number);
    await stage.settle();
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Cannot play the script: it takes more than ${ms} ms`)), ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
