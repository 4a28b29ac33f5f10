/**
 * The figures of each part as lines, each with its aim.
 * Owns the wording; must not measure.
 */
import type { BusySandbox } from './busy-sandbox.ts';
import type { HistoryCost } from './history-cost.ts';
import type { OpenConversations } from './open-conversations.ts';
import type { PolicyScenario } from './policy-scenario.ts';
import type { Pace, Speed } from './speed.ts';

const count = (events: number): string => String(Math.round(events * 10) / 10);

export function historyCostLines(cost: HistoryCost, withListing: boolean): readonly string[] {
  const { alone, inRun, ordinary } = cost;
  const all = alone.own + alone.sandbox;
  const withRun = inRun.own + inRun.sandbox + inRun.shareOfRun;
  return [
    `own ${count(alone.own)} events (aim: at most 60), sandbox ${count(alone.sandbox)}, over all histories ${count(all)} (aim: at most 85)`,
    `ordinary way ${count(ordinary)}, ours / ordinary ${(all / ordinary).toFixed(2)} (aim: at most 0.8)`,
    `as an item of a run: own ${count(inRun.own)}, sandbox ${count(inRun.sandbox)}, share of the run ${count(inRun.shareOfRun)}, together ${count(withRun)}`,
    ...(withListing
      ? [
          ...numbered('conversation', cost.listing.conversation),
          ...numbered('sandbox', cost.listing.sandbox),
          ...numbered('run', cost.runListing),
          ...numbered('ordinary', cost.ordinaryListing),
        ]
      : []),
  ];
}

export function speedLines({ emptyPerSecond, ours, ordinary }: Speed): readonly string[] {
  const share = ours.perSecond / emptyPerSecond;
  const ratio = ours.perSecond / ordinary.perSecond;
  return [
    `empty workflows ${emptyPerSecond.toFixed(1)}/s`,
    `ours ${paceLine(ours)}`,
    `ordinary way ${paceLine(ordinary)}`,
    `ours / empty ${share.toFixed(3)} (aim: at least 0.15), ours / ordinary ${ratio.toFixed(2)} (aim: at least 1)`,
  ];
}

function paceLine({ perSecond, readyP50Ms, readyP95Ms, cpuMs }: Pace): string {
  return `${perSecond.toFixed(1)} conversations/s, start to READY p50 ${readyP50Ms.toFixed(0)} ms, p95 ${readyP95Ms.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms CPU each`;
}

export function busySandboxLines(busy: BusySandbox, withListing: boolean): readonly string[] {
  const { events, touches, polls, ordinaryEvents, ordinaryTouches } = busy;
  const perTouch = ordinaryEvents / ordinaryTouches;
  const ratio = events / (perTouch * touches);
  return [
    `ours, ${touches} touches in 12 hours, ${polls} polls: ${events} events, up to its pause (aim: at most 60)`,
    `ordinary way, ${ordinaryTouches} touches: ${ordinaryEvents} events, ${perTouch.toFixed(1)} for each touch`,
    `ours / ordinary at ${touches} touches ${ratio.toFixed(4)} (aim: at most 0.01)`,
    ...(withListing ? numbered('sandbox', busy.listing) : []),
  ];
}

export function openConversationsLines(found: readonly OpenConversations[]): readonly string[] {
  const first = found[0];
  return found.map(({ open, rssMb, readP50Ms, startedPerSecond }) => {
    const grown = (figure: number, from: number): string => `${(figure / from).toFixed(2)} of the first`;
    const beside =
      first === undefined || first.open === open
        ? ''
        : `; memory ${grown(rssMb, first.rssMb)}, read ${grown(readP50Ms, first.readP50Ms)} (aim: at most 1.2)`;
    return `${open} open: ${rssMb.toFixed(0)} MB RSS, status read p50 ${readP50Ms.toFixed(3)} ms, started at ${startedPerSecond.toFixed(1)}/s${beside}`;
  });
}

export function policyScenarioLines(scenario: PolicyScenario): readonly string[] {
  const { virtualDays, temporalSeconds, simulatorSeconds, plays } = scenario;
  return [
    `${virtualDays} days on the server that skips time: ${temporalSeconds.toFixed(2)} s`,
    `the same in the simulator, median of ${plays}: ${(simulatorSeconds * 1_000).toFixed(2)} ms`,
    `simulator ${Math.round(temporalSeconds / simulatorSeconds)} times faster (aim: at least 1000)`,
  ];
}

function numbered(name: string, events: readonly string[]): readonly string[] {
  return events.map((event, index) => `${name} ${String(index + 1).padStart(3)} ${event}`);
}
