/**
 * The figures of each part, what is said beside them, and the lines below them.
 * Owns the wording; must not measure.
 */
import type { Shown } from '../all/figure.ts';
import type { BusySandbox } from './busy-sandbox.ts';
import type { ConversationCost } from './cost/conversation-cost.ts';
import type { Counts } from './cost/core-calls.ts';
import type { HistoryCost } from './history-cost.ts';
import type { OpenConversations } from './open-conversations.ts';
import type { PolicyScenario } from './policy-scenario.ts';
import type { Pace, Speed } from './speed.ts';

const count = (events: number): string => String(Math.round(events * 10) / 10);

export function historyCostFigures({ alone, inRun, ordinary }: HistoryCost): readonly Shown[] {
  const all = alone.own + alone.sandbox;
  const item = inRun.own + inRun.sandbox + inRun.shareOfRun;
  const shares = `own ${count(inRun.own)}, sandbox ${count(inRun.sandbox)}, share of the run ${count(inRun.shareOfRun)}`;
  return [
    [{ what: 'history: events of a conversation by itself', value: alone.own, unit: '', aim: ['≤', 60] }],
    [{ what: 'history: with those of its sandbox', value: all, unit: '', aim: ['≤', 85] }],
    [
      { what: 'history: to the ordinary way', value: all / ordinary, unit: 'times', aim: ['≤', 0.8] },
      `ordinary way ${count(ordinary)}`,
    ],
    [{ what: 'history: an item of a run, with its share', value: item, unit: '' }, shares],
  ];
}

export function historyListing(cost: HistoryCost): readonly string[] {
  return [
    ...numbered('conversation', cost.listing.conversation),
    ...numbered('sandbox', cost.listing.sandbox),
    ...numbered('run', cost.runListing),
    ...numbered('ordinary', cost.ordinaryListing),
  ];
}

export function speedFigures({ emptyPerSecond, ours, ordinary }: Speed): readonly Shown[] {
  const [share, ratio] = [ours.perSecond / emptyPerSecond, ours.perSecond / ordinary.perSecond];
  const other = `ordinary way ${ordinary.perSecond.toFixed(1)}/s, ${paceText(ordinary)}`;
  return [
    [{ what: 'speed: conversations a second', value: ours.perSecond, unit: '' }, paceText(ours)],
    [
      { what: 'speed: to empty workflows', value: share, unit: 'times', aim: ['≥', 0.15] },
      `empty workflows ${emptyPerSecond.toFixed(1)}/s`,
    ],
    [{ what: 'speed: to the ordinary way', value: ratio, unit: 'times', aim: ['≥', 1] }, other],
    [{ what: 'speed: start to READY, p50', value: ours.readyP50Ms, unit: 'ms' }],
  ];
}

function paceText({ readyP50Ms, readyP95Ms, cpuMs }: Pace): string {
  return `start to READY p50 ${readyP50Ms.toFixed(0)} ms, p95 ${readyP95Ms.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms CPU each`;
}

export function busySandboxFigures({ events, touches, polls }: BusySandbox): readonly Shown[] {
  const beside = `in 12 hours, ${polls} polls, up to its pause`;
  return [[{ what: `busy: events for ${touches} touches`, value: events, unit: '', aim: ['≤', 60] }, beside]];
}

export function busySandboxLines(busy: BusySandbox, withListing: boolean): readonly string[] {
  const { events, touches, ordinaryEvents, ordinaryTouches } = busy;
  const perTouch = ordinaryEvents / ordinaryTouches;
  const ratio = events / (perTouch * touches);
  return [
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

export function policyScenarioFigures(scenario: PolicyScenario): readonly Shown[] {
  const { virtualDays, temporalSeconds, simulatorSeconds, plays } = scenario;
  const value = temporalSeconds / simulatorSeconds;
  const beside = `${virtualDays} days in ${temporalSeconds.toFixed(2)} s and ${(simulatorSeconds * 1_000).toFixed(2)} ms, median of ${plays}`;
  const what = 'policy: simulator to the server that skips time';
  return [[{ what, value, unit: 'times', aim: ['≥', 1_000] }, beside]];
}

function numbered(name: string, events: readonly string[]): readonly string[] {
  return events.map((event, index) => `${name} ${String(index + 1).padStart(3)} ${event}`);
}

/** Of a list, as many as say where it goes. */
const LISTED_MAX = 24;
const TEXT_MAX = 110;

/** For each item of a run. */
export function conversationCostFigures(cost: ConversationCost): readonly Shown[] {
  const { events, serverCalls: calls, signals } = cost;
  return [
    ofItem('commits of PostgreSQL', cost.commits, 60),
    ofItem('statements', sum(cost.statements)),
    ofItem('calls of the store', sum(cost.storeCalls)),
    ofItem('workflow tasks', sum(events, / workflowTaskCompleted$/), 15),
    ofItem('signals', sum(signals), 10),
    ofItem('local activities', sum(events, / markerRecorded$/)),
    ofItem('activities', sum(cost.activities)),
    ofItem('timers', sum(events, / timerStarted$/)),
    ofItem('heartbeats', sum(calls, /^unary RecordActivityTaskHeartbeat$/)),
    ofItem('unary calls to the server', sum(calls, /^unary /)),
    ofItem('polls', sum(calls, /^poll /)),
    ...['conversation', 'sandbox', 'run', 'shard'].map((type) =>
      ofItem(`events of history: ${type}`, sum(events, new RegExp(`^${type} `))),
    ),
  ];
}

function ofItem(what: string, value: number, most?: number): Shown {
  const aim = most === undefined ? {} : { aim: ['≤', most] as const };
  return [{ what: `cost: ${what} of an item`, value, unit: '', ...aim }];
}

export function conversationCostLines(cost: ConversationCost): readonly string[] {
  const { events, serverCalls, signals } = cost;
  return [
    ...listed('workflow tasks', selected(events, / workflowTaskCompleted$/)),
    ...listed('signals', signals),
    ...listed('activities', cost.activities),
    ...listed('timers', selected(events, / timerStarted$/)),
    ...listed('local activities', selected(events, / markerRecorded$/)),
    ...listed('calls of the store', cost.storeCalls),
    ...listed('statements', cost.statements),
    ...listed('calls to the server', serverCalls),
  ];
}

function selected(counts: Counts, keys: RegExp): Counts {
  return new Map([...counts].filter(([key]) => keys.test(key)));
}

function sum(counts: Counts, keys = /^/): number {
  return [...selected(counts, keys).values()].reduce((all, one) => all + one, 0);
}

function listed(name: string, counts: Counts): readonly string[] {
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, LISTED_MAX);
  return [
    `${name}, by cause`,
    ...most
      .map(([key, number]) => [number.toFixed(1), key.slice(0, TEXT_MAX)] as const)
      .filter(([number]) => number !== '0.0')
      .map(([number, key]) => `${number.padStart(8)} ${key}`),
  ];
}
