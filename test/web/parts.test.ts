/** What the console decides by itself: addresses, texts of events, amounts, times, and where a bar begins. */
import { describe, expect, it } from 'vitest';
import { createJobCompiler } from '../../host/serve/job-compiler.ts';
import { parsedHeaders } from '../../web/admin/parsed-headers.ts';
import { eventText, isForPeople, type TranscriptEvent } from '../../web/conversation/event-text.ts';
import { pendingActions } from '../../web/conversation/pending-actions.ts';
import { rangeOf } from '../../web/editor/finding-place.ts';
import { addressOf, placeOf, type Place } from '../../web/routing/place.ts';
import { firstJob } from '../../web/run/first-job.ts';
import { spansOf } from '../../web/run/timeline-spans.ts';
import { usd, usdOfNano } from '../../web/text/money.ts';
import { ago, duration, parsedInstant } from '../../web/text/time.ts';
import { labelOf, toneOf } from '../../web/text/words.ts';

const DEPLOYMENT = {
  capacity: { installationMax: 10, userMax: 10, conversationsPerSandboxMax: 2 },
  limits: { idleTimeMs: null, deletionTimeMs: null },
} as const;

const PLACES: readonly Place[] = [
  { page: 'overview' },
  { page: 'secrets' },
  { page: 'keys' },
  { page: 'audit' },
  { page: 'conversations' },
  { page: 'conversation', id: 'c'.repeat(32) },
  { page: 'conversation', id: 'c'.repeat(32), view: 'changes' },
  { page: 'sandboxes' },
  { page: 'runs' },
  { page: 'start-run' },
  { page: 'run', id: 'nightly-1' },
  { page: 'report', id: 'nightly-1' },
  { page: 'comparison', id: 'nightly-2', before: 'nightly-1' },
  { page: 'job', name: 'nightly' },
  { page: 'settings-application' },
  { page: 'settings-llm' },
  { page: 'admin' },
];

describe('the editor', () => {
  const place = (line: number, column: number, endLine: number, endColumn: number) => ({
    ...{ line, column, end_line: endLine, end_column: endColumn },
  });

  it.each([
    ['the second line', 'a: 1\nbee: 2\n', place(2, 1, 2, 4), 'bee'],
    ['code points', '😀😀: x\n', place(1, 2, 1, 3), '😀'],
    ['nothing as one letter', 'abc', place(1, 2, 1, 2), 'b'],
    ['the end of a text', 'abc', place(9, 1, 9, 5), ''],
    ['several lines', 'a\nb\nc', place(1, 1, 3, 2), 'a\nb\nc'],
    ['a column behind its line', 'ab\ncd', place(1, 9, 1, 12), '\n'],
  ])('marks %s', (_name, text, at, marked) => {
    const { from, to } = rangeOf(text, at);
    expect(text.slice(from, to)).toBe(marked);
  });

  it('begins with a job that compiles', () => {
    const compiler = createJobCompiler({ models: () => ['coder'], deployment: DEPLOYMENT });
    const { plan, findings } = compiler.compile(firstJob('coder'), {});
    expect([plan?.items.length, findings.filter(({ severity }) => severity === 'error')]).toEqual([1, []]);
  });
});

describe('places', () => {
  it.each(PLACES)('%j has an address that leads back to it', (place) => {
    expect(placeOf(addressOf(place))).toEqual(place);
  });

  it.each([
    ['/console/', 'overview'],
    ['/console/settings', 'missing'],
    ['/console/conversations/a/b', 'missing'],
    ['/console/nothing/here', 'missing'],
  ])('%s is the page %s', (address, page) => {
    expect(placeOf(address).page).toBe(page);
  });
});

const event = (fields: Readonly<Record<string, unknown>>): TranscriptEvent =>
  ({ id: 'e', timestamp: '2026-01-01T00:00:00', ...fields }) as unknown as TranscriptEvent;
const text = (one: string) => [{ type: 'text', text: one }];

describe('eventText()', () => {
  it.each([
    [{ kind: 'MessageEvent', source: 'user', llm_message: { content: text('hi') } }, 'You', 'hi'],
    [{ kind: 'MessageEvent', source: 'agent', llm_message: { content: 'plain' } }, 'Agent', 'plain'],
    [{ kind: 'ActionEvent', tool_name: 'terminal', action: { kind: 'T', command: 'ls' } }, 'terminal', 'ls'],
    [{ kind: 'ActionEvent', tool_name: 'edit', action: { command: 'view', path: '/a' } }, 'edit', 'view /a'],
    [
      { kind: 'ActionEvent', tool_name: 'x', action: null, tool_call: { arguments: '{"a":1}' } },
      'x',
      '{"a":1}',
    ],
    [{ kind: 'ActionEvent', tool_name: 'finish', action: { message: 'done' } }, 'Agent finished', 'done'],
    [
      {
        kind: 'ObservationEvent',
        tool_name: 'terminal',
        observation: { content: text('a'), is_error: false },
      },
      'terminal answered',
      'a',
    ],
    [
      { kind: 'ObservationEvent', tool_name: 'terminal', observation: { content: [], is_error: true } },
      'terminal failed',
      'No output',
    ],
    [{ kind: 'AgentErrorEvent', tool_name: 'terminal', error: 'no' }, 'terminal error', 'no'],
    [{ kind: 'ConversationErrorEvent', code: 'quota', detail: 'spent' }, 'quota', 'spent'],
    [{ kind: 'ConversationErrorEvent', code: 'start_failed', detail: 'no' }, 'The start failed', 'no'],
    [{ kind: 'ConversationErrorEvent', code: 'message_refused', detail: 'm: no' }, 'Not delivered', 'm: no'],
  ])('reads %j', (fields, who, body) => {
    expect(eventText(event(fields))).toMatchObject({ who, body });
  });

  it('reads what no Agent Server of today writes', () => {
    for (const kind of ['MessageEvent', 'ActionEvent', 'ObservationEvent', 'NewKindEvent'])
      expect(() => eventText(event({ kind }))).not.toThrow();
    expect(eventText(event({ kind: 'NewKindEvent' })).head).toBe('NewKind');
  });

  it('shows people a change of status, and no other state', () => {
    const kind = 'ConversationStateUpdateEvent';
    expect(isForPeople(event({ kind, key: 'stats', value: {} }))).toBe(false);
    const status = event({ kind, key: 'execution_status', value: 'waiting_for_confirmation' });
    expect([isForPeople(status), eventText(status).head]).toEqual([
      true,
      'Agent is waiting for confirmation',
    ]);
  });
});

it('pendingActions() are those that nothing has answered', () => {
  const at = (seq: number, fields: Readonly<Record<string, unknown>>) => ({ seq, event: event(fields) });
  const action = (id: string) => ({
    kind: 'ActionEvent',
    id,
    tool_call_id: `call-${id}`,
    tool_name: 'terminal',
    summary: id,
    security_risk: 'HIGH',
  });
  const events = [
    at(1, action('one')),
    at(2, { kind: 'ObservationEvent', id: 'o', action_id: 'one', tool_call_id: 'call-one' }),
    at(3, action('two')),
    at(4, { kind: 'UserRejectObservation', id: 'r', action_id: 'two', tool_call_id: 'call-two' }),
    at(5, action('three')),
  ];
  expect(pendingActions(events)).toEqual([
    { id: 'three', tool: 'terminal', summary: 'three', risk: 'HIGH', event: events.at(-1)?.event },
  ]);
});

it.each([
  [0, '$0.00'],
  [12.345, '$12.35'],
  [0.0123, '$0.0123'],
  [0.000_045, '$0.000045'],
  [0.000_000_4, '< $0.000001'],
])('usd(%d) is %s', (amount, shown) => {
  expect(usd(amount)).toBe(shown);
});

it('amounts of the wire are nano-USD', () => {
  expect(usdOfNano(1_500_000_000)).toBe('$1.50');
});

it.each([
  [0, '0 s'],
  [59_999, '59 s'],
  [61_000, '1 min 1 s'],
  [3_600_000, '1 h'],
  [90_000_000, '1 d 1 h'],
])('duration(%d) is %s', (ms, shown) => {
  expect(duration(ms)).toBe(shown);
});

it('an instant without a zone is UTC, and is told by its distance', () => {
  expect(parsedInstant('2026-01-01T00:00:00.5')).toBe(parsedInstant('2026-01-01T00:00:00.500Z'));
  expect([ago(0, 3_000), ago(0, 61_000), ago(0, 3 * 86_400_000)]).toEqual([
    'just now',
    '1 min ago',
    '3 days ago',
  ]);
});

it('words of the wire are labels, and one that is unknown is calm', () => {
  expect([labelOf('WAITING_FOR_CONFIRMATION'), toneOf('STUCK'), toneOf('new_word')]).toEqual([
    'Waiting for confirmation',
    'bad',
    'calm',
  ]);
});

it('spansOf() puts items into the time of their run', () => {
  const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();
  const run = { created_at: at(0), ended_at: null };
  const { frame, spans } = spansOf(
    run,
    [
      { key: 'a', phase: 'ended', outcome: 'succeeded', admitted_at: at(0), ended_at: at(50) },
      { key: 'b', phase: 'working', outcome: null, admitted_at: at(25), ended_at: null },
      { key: 'c', phase: 'waiting', outcome: null, admitted_at: null, ended_at: null },
    ],
    100_000,
  );
  expect(frame).toEqual({ fromMs: 0, untilMs: 100_000 });
  expect(spans).toEqual([
    { key: 'a', word: 'succeeded', from: 0, until: 0.5, isOpen: false },
    { key: 'b', word: 'working', from: 0.25, until: 1, isOpen: true },
    { key: 'c', word: 'waiting', from: null, until: 1, isOpen: false },
  ]);
});

it('parsedHeaders() takes an object of texts and says what else is wrong', () => {
  expect(parsedHeaders('{"x-route": "blue"}')).toEqual({ 'x-route': 'blue' });
  expect(() => parsedHeaders('{')).toThrow('they are no JSON');
  expect(() => parsedHeaders('[]')).toThrow('must be a JSON object');
  expect(() => parsedHeaders('{"x-n": 1}')).toThrow('"x-n" must be a text');
});
