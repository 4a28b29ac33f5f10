/**
 * The cost of an item as a table and by cause.
 * Owns the wording and the sums; must not measure.
 */
import type { ConversationCost } from './conversation-cost.ts';
import type { Counts } from './core-calls.ts';

/** Of a list, as many as say where it goes. */
const LISTED_MAX = 24;
const TEXT_MAX = 110;

export function conversationCostLines(cost: ConversationCost): readonly string[] {
  const { events, serverCalls: calls, signals } = cost;
  return [
    '| what, for each item of a run | count | aim |',
    '| --- | --- | --- |',
    row('commits of PostgreSQL', cost.commits, '60'),
    row('statements', sum(cost.statements)),
    row('calls of the store', sum(cost.storeCalls)),
    row('workflow tasks', sum(events, / workflowTaskCompleted$/), '15'),
    row('signals', sum(signals), '10'),
    row('local activities', sum(events, / markerRecorded$/)),
    row('activities', sum(cost.activities)),
    row('timers', sum(events, / timerStarted$/)),
    row('heartbeats', sum(calls, /^unary RecordActivityTaskHeartbeat$/)),
    row('unary calls to the server', sum(calls, /^unary /)),
    row('polls', sum(calls, /^poll /)),
    ...['conversation', 'sandbox', 'run', 'shard'].map((type) =>
      row(`events of history: ${type}`, sum(events, new RegExp(`^${type} `))),
    ),
    ...listed('workflow tasks', selected(events, / workflowTaskCompleted$/)),
    ...listed('signals', signals),
    ...listed('activities', cost.activities),
    ...listed('timers', selected(events, / timerStarted$/)),
    ...listed('local activities', selected(events, / markerRecorded$/)),
    ...listed('calls of the store', cost.storeCalls),
    ...listed('statements', cost.statements),
    ...listed('calls to the server', calls),
  ];
}

const figure = (count: number): string => count.toFixed(1);
const row = (what: string, count: number, aim = ''): string => `| ${what} | ${figure(count)} | ${aim} |`;

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
      .filter(([, count]) => figure(count) !== '0.0')
      .map(([key, count]) => `${figure(count).padStart(8)} ${key.slice(0, TEXT_MAX)}`),
  ];
}
