/** What the page of a conversation decides by itself: pairs, colours, Markdown, comparisons, what is kept, keys. */
import { describe, expect, it } from 'vitest';
import { actionDetail } from '../../web/conversation/action-text.ts';
import { failureText, type TranscriptEvent } from '../../web/conversation/event-text.ts';
import { matchOf } from '../../web/conversation/find-events.ts';
import { costsOf, durationMs, entriesOf, exitCodeOf } from '../../web/conversation/transcript-entries.ts';
import {
  earlierCount,
  EMPTY_WINDOW,
  KEPT_EVENTS_MAX,
  laterCount,
  placed,
  withEarlier,
  withLater,
  withStreamed,
} from '../../web/data/event-window.ts';
import { afterKey, NOTHING_TYPED, SHORTCUTS } from '../../web/keyboard/shortcuts.ts';
import { markdownTree, safeAddress, type MarkdownNode } from '../../web/markdown/markdown-tree.ts';
import { plainText, runsOf } from '../../web/terminal/ansi.ts';
import { exactDuration, utc } from '../../web/text/time.ts';
import { compare } from '../../web/work/diff-rows.ts';
import { treeOf } from '../../web/work/file-tree.ts';
import { HOSTILE, MARKDOWN, TERMINAL } from './hostile-texts.ts';

const event = (fields: Readonly<Record<string, unknown>>): TranscriptEvent =>
  ({ id: 'e', timestamp: '2026-01-01T00:00:00', ...fields }) as unknown as TranscriptEvent;
const numbered = (from: number, until: number) =>
  Array.from({ length: until - from + 1 }, (_, at) => ({
    seq: from + at,
    event: event({ id: `e${from + at}`, kind: 'MessageEvent' }),
  }));

describe('entriesOf()', () => {
  const action = (id: string, response: string) =>
    event({ id, kind: 'ActionEvent', tool_call_id: `call-${id}`, llm_response_id: response });
  const result = (id: string, code: number) =>
    event({
      id: `${id}-result`,
      kind: 'ObservationEvent',
      ...{ action_id: id, timestamp: '2026-01-01T00:00:02.5' },
      observation: { exit_code: code },
    });

  it('puts each action together with what came of it, in the order of the actions', () => {
    const events = [action('a', 'r1'), action('b', 'r1'), result('b', 3), result('a', 0)];
    const entries = entriesOf(events.map((one, at) => ({ seq: at + 1, event: one })));
    expect(entries.map(({ seq, event: one, result: found }) => [seq, one.id, found?.id])).toEqual([
      [1, 'a', 'a-result'],
      [2, 'b', 'b-result'],
    ]);
    expect(entries.map((one) => [durationMs(one), exitCodeOf(one.result)])).toEqual([
      [2_500, 0],
      [2_500, 3],
    ]);
    expect([...costsOf(entries, new Map([['r1', 700]]))]).toEqual([[1, 700]]);
  });

  it('leaves a result whose action is not there by itself, also a second one', () => {
    const error = event({ id: 'x', kind: 'AgentErrorEvent', tool_call_id: 'call-a' });
    const found = entriesOf(
      [result('gone', 0), action('a', 'r'), error, result('a', 0)].map((one, at) => ({
        seq: at,
        event: one,
      })),
    );
    expect(found.map(({ event: one, result: came }) => [one.id, came?.id])).toEqual([
      ['gone-result', undefined],
      ['a', 'x'],
      ['a-result', undefined],
    ]);
  });
});

describe('the window over a transcript', () => {
  it('keeps the newest, as many as it may, and says how many are before', () => {
    const window = withStreamed(withStreamed(EMPTY_WINDOW, numbered(901, 1_000)), numbered(999, 2_000));
    expect([window.events.length, window.events.at(-1)?.seq, window.total, window.isLive]).toEqual([
      KEPT_EVENTS_MAX,
      2_000,
      2_000,
      true,
    ]);
    expect([earlierCount(window), laterCount(window)]).toEqual([2_000 - KEPT_EVENTS_MAX, 0]);
  });

  it('goes back and comes forward again without a gap or a second one', () => {
    const tail = withStreamed(EMPTY_WINDOW, numbered(1_401, 2_000));
    const back = withEarlier(tail, numbered(1_301, 1_400));
    expect([back.isLive, back.events[0]?.seq, back.events.at(-1)?.seq]).toEqual([false, 1_301, 1_900]);
    const told = withStreamed(back, numbered(2_001, 2_002));
    expect([told.events, told.total, laterCount(told)]).toEqual([back.events, 2_002, 102]);
    const forward = withLater(withLater(told, numbered(1_901, 2_000)), numbered(2_001, 2_002));
    expect([forward.isLive, forward.events.at(-1)?.seq]).toEqual([true, 2_002]);
    expect(withStreamed(forward, numbered(2_002, 2_003)).events.at(-1)?.seq).toBe(2_003);
    expect(placed(told, numbered(10, 60))).toMatchObject({ isLive: false });
  });
});

describe('actionDetail()', () => {
  it('shows a command, an edit and anything else whole', () => {
    const long = 'x'.repeat(50_000);
    const tool = (action: object) => actionDetail(event({ kind: 'ActionEvent', action }));
    expect(tool({ kind: 'T', command: long })).toEqual({ kind: 'command', command: long });
    expect(tool({ command: 'make', timeout: 900 })).toEqual({
      kind: 'command',
      command: 'make\n# {"timeout":900}',
    });
    expect(tool({ command: 'str_replace', path: '/a', old_str: 'one', new_str: long })).toEqual({
      ...{ kind: 'edit', verb: 'Replace in', path: '/a', before: 'one', after: long },
    });
    expect(tool({ other: long })).toMatchObject({ kind: 'other', language: 'json' });
    const spelled = { arguments: '{"command":"ls"}' };
    expect(actionDetail(event({ kind: 'ActionEvent', action: null, tool_call: spelled }))).toEqual({
      ...{ kind: 'command', command: 'ls' },
    });
  });
});

describe('terminal output', () => {
  it('has its colours, its last line forms, and nothing that a terminal obeys', () => {
    const runs = runsOf(
      '\u001b[1;31mno\u001b[0m 10%\r\u001b[32m20%\u001b[39m\n\u001b[38;5;208mo\u001b[48;2;1;2;3mx',
    );
    expect(runs.map(({ text, style }) => [text, style.colour, style.ground, style.isBold])).toEqual([
      ['20%', 2, null, false],
      ['\n', null, null, false],
      ['o', '#ff8700', null, false],
      ['x', '#ff8700', '#010203', false],
    ]);
    expect(runsOf('\u001b[1;91mbad').at(0)?.style).toMatchObject({ colour: 9, isBold: true });
    for (const text of TERMINAL) {
      // eslint-disable-next-line no-control-regex -- these must not be left
      expect(plainText(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
      for (const { style } of runsOf(text))
        expect(String(style.colour ?? '#000000')).toMatch(/^(?:\d+|#[0-9a-f]{6})$/);
    }
  });
});

describe('markdownTree()', () => {
  const addresses = (nodes: readonly MarkdownNode[]): string[] =>
    JSON.stringify(nodes)
      .split('"address":"')
      .slice(1)
      .map((rest) => rest.split('"')[0] ?? '');

  it('reads what people write', () => {
    const tree = markdownTree('# T\n\n**b** `c` [l](https://a.invalid/x)\n\n- [x] one\n\n```ts\nlet a;\n```');
    expect(JSON.stringify(tree)).toMatch(
      /"heading".*"strong".*"codespan".*"link".*"isDone":true.*"language":"ts"/,
    );
  });

  it('leads nowhere but to the web and to mail, and loads nothing', () => {
    for (const text of [...HOSTILE, ...MARKDOWN])
      for (const address of addresses(markdownTree(text) ?? []))
        expect(address).toMatch(/^(?:https?:\/\/attacker\.invalid\/|mailto:)/);
    const refused = [
      'javascript:x',
      'data:text/html,x',
      '/console/',
      '//a.invalid',
      'https://u:p@a.invalid',
      '',
    ];
    for (const address of refused) expect(safeAddress(address)).toBeNull();
  });

  it('is done in a moment, whatever it is given', () => {
    const deep = ['>', '- ', '[', '*a_', '![', '`', '<a ', '1. ', '|a', '\\', '~~'];
    for (const part of deep) {
      const before = process.cpuUsage();
      for (const count of [190, 600, 2_000, 20_000]) markdownTree(part.repeat(count));
      const { user, system } = process.cpuUsage(before);
      expect([part, (user + system) / 1_000 < 2_000]).toEqual([part, true]);
    }
  });
});

describe('compare()', () => {
  it('pairs what came with what went, counts, and leaves out what is far from both', () => {
    const lines = Array.from({ length: 30 }, (_, at) => `line ${at}`);
    const after = lines.with(15, 'changed').toSpliced(20, 1);
    const { parts, added, removed } = compare(`${lines.join('\n')}\n`, `${after.join('\n')}\n`);
    expect([added, removed]).toEqual([1, 2]);
    expect(parts.map((part) => (part.kind === 'left-out' ? part.rows.length : part.kind[0])).join(' ')).toBe(
      '12 s s s c s s s s r s s s 6',
    );
    const changed = parts.find(({ kind }) => kind === 'changed');
    expect(changed).toMatchObject({ oldLine: 16, newLine: 16, oldText: 'line 15', newText: 'changed' });
    expect(compare('', 'a\nb\n')).toMatchObject({ added: 2, removed: 0 });
  });

  it('gives a comparison up that would take too long, and loses no line', () => {
    const text = (seed: number) =>
      Array.from({ length: 20_000 }, (_, at) => `${(at * seed) % 7_919}`).join('\n');
    const { parts } = compare(text(31), text(97));
    const rows = parts.flatMap((part) => (part.kind === 'left-out' ? part.rows : [part]));
    expect(rows.filter(({ newLine }) => newLine !== null)).toHaveLength(20_000);
  });
});

it('treeOf() has folders first, and one line for a folder of one folder', () => {
  const tree = treeOf(['z.txt', 'src/main/a.ts', 'src/main/b/c.ts', '__proto__/x', 'constructor']);
  expect(tree.folders.map(({ name }) => name)).toEqual(['__proto__', 'src/main']);
  expect(tree.files.map(({ path }) => path)).toEqual(['constructor', 'z.txt']);
  expect(tree.folders[1]?.folders[0]?.files[0]?.path).toBe('src/main/b/c.ts');
});

it('failureText() is the last error of an agent that has failed', () => {
  const events = [
    { seq: 1, event: event({ kind: 'ConversationErrorEvent', code: 'a', detail: 'one' }) },
    { seq: 2, event: event({ kind: 'ConversationErrorEvent', code: 'quota', detail: 'spent' }) },
  ];
  expect(failureText('ERROR', events)).toBe('quota: spent');
  expect(failureText('RUNNING', events)).toBeNull();
  expect(failureText('error', [])).toBe('no reason was given.');
});

it('matchOf() finds words in what people see, edits included', () => {
  const action = { command: 'str_replace', path: '/a', old_str: 'needle in hay', new_str: '' };
  const found = matchOf(7, event({ kind: 'ActionEvent', tool_name: 'edit', action }), 'NEEDLE');
  expect(found).toMatchObject({ seq: 7, match: 'needle', after: expect.stringContaining(' in hay') });
  expect(matchOf(8, event({ kind: 'SystemPromptEvent', text: 'needle' }), 'needle')).toBeNull();
});

it('afterKey() knows every shortcut, and forgets half of one', () => {
  for (const { keys, does } of SHORTCUTS) {
    let typed = NOTHING_TYPED;
    let done = '';
    for (const key of keys) {
      const next = afterKey(typed, key, 1_000);
      typed = next.typed;
      done = next.shortcut?.does ?? '';
    }
    expect(done).toBe(does);
  }
  const half = afterKey(NOTHING_TYPED, 'g', 0).typed;
  expect(afterKey(half, 'c', 60_000).shortcut).toBeNull();
  expect(afterKey(half, '/', 10).shortcut?.does).toBe('Search on this page');
});

it('times are exact where they are short, and have UTC beside them', () => {
  expect([exactDuration(12), exactDuration(2_340), exactDuration(75_000)]).toEqual([
    '12 ms',
    '2.3 s',
    '1 min 15 s',
  ]);
  expect([utc(Date.UTC(2026, 2, 4, 10, 11, 12)), utc(Number.NaN)]).toEqual(['2026-03-04 10:11:12 UTC', '']);
});
