// Scripts that are wrong say what and where; scripts that are right mean what they say.

import { describe, expect, it } from 'vitest';

import { fillGaps } from '../../scripted-gateway/script/gap-text.ts';
import { openKeyRing } from '../../scripted-gateway/key-ring.ts';
import { parseScript } from '../../scripted-gateway/script/parse-script.ts';
import { formatProblem } from '../../scripted-gateway/script/problem.ts';
import { header, sampleScript, scriptOf } from './gateway-fixture.ts';

function problemsOf(text: string, readFile: (path: string) => string = () => ''): readonly string[] {
  return parseScript(text, 's.yaml', readFile).problems.map(formatProblem);
}

const oneTurn = (turn: string): string => `${header}scripts:\n  - name: a\n    turns:\n      - ${turn}\n`;

describe('parseScript() refuses', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    [
      'an unknown key of the file',
      `${oneTurn('say: hi')}colour: red\n`,
      [
        's.yaml:14:1: unknown key "colour": expected one of "kind", "version", "keys", "models", "latency_ms", "working_dir", "scripts"',
      ],
    ],
    [
      'an unknown key of a turn',
      oneTurn('{ say: hi, tol: x }'),
      [
        's.yaml:13:20: unknown key "tol": expected one of "say", "tool", "arguments", "tools", "usage", "latency_ms", "piece_ms", "status", "message", "retry_after"',
      ],
    ],
    ['a missing key', header, ['s.yaml:1:1: missing key "scripts"']],
    [
      'a wrong type',
      oneTurn('{ say: 3 }'),
      ['s.yaml:13:16: scripts[0].turns[0].say: expected string, found number'],
    ],
    [
      'an empty turn',
      oneTurn('{}'),
      ['s.yaml:13:9: empty turn: expected one of "say", "tool", "tools", "status"'],
    ],
    [
      'an error turn that also answers',
      oneTurn('{ status: 429, say: hi }'),
      ['s.yaml:13:29: "say" cannot stand beside "status"'],
    ],
    [
      'a message without a status',
      oneTurn('{ say: hi, message: no }'),
      ['s.yaml:13:29: "message" needs "status" beside it'],
    ],
    [
      'arguments without a tool',
      oneTurn('{ say: hi, arguments: { a: 1 } }'),
      ['s.yaml:13:31: "arguments" needs "tool" beside it'],
    ],
    [
      'both forms of tool calls',
      oneTurn('{ tool: a, tools: [{ tool: b }] }'),
      ['s.yaml:13:27: "tools" cannot stand beside "tool"'],
    ],
    [
      'a price that is no plain decimal',
      oneTurn('say: hi').replace('input: 0.15', 'input: 1e-12'),
      [
        's.yaml:8:26: input: found "1e-12", expected USD per million tokens as a plain decimal up to 1000000 with at most 9 digits after the point',
      ],
    ],
    [
      'a key for an unknown model',
      oneTurn('say: hi').replace('[vendor/small]', '[vendor/tiny]'),
      ['s.yaml:5:42: unknown model "vendor/tiny": expected one of "vendor/small", "vendor/large"'],
    ],
    [
      'two keys of one name',
      oneTurn('say: hi').replace('name: free', 'name: team'),
      ['s.yaml:6:27: name of keys[2] is already the name of keys[1]'],
    ],
    [
      'a script that hides the next',
      `${oneTurn('say: hi')}  - name: b\n    turns: []\n`,
      ['s.yaml:11:5: script "a" has no "when" and so must be the last: nothing after it is reached'],
    ],
    [
      'a name twice',
      `${header}scripts:\n  - { name: a, when: { contains: x }, turns: [] }\n  - { name: a, turns: [] }\n`,
      ['s.yaml:12:13: script "a" is defined twice'],
    ],
    [
      'a condition of nothing',
      `${header}scripts:\n  - { name: a, when: {}, turns: [] }\n`,
      ['s.yaml:11:22: scripts[0].when: expected "contains", "tool" or both'],
    ],
    [
      'a name that no id can carry',
      oneTurn('say: hi').replace('name: a\n', 'name: a b\n'),
      ['s.yaml:11:11: scripts[0].name: expected letters, digits, "-" and "_" only'],
    ],
    [
      'a number that JSON lacks',
      oneTurn('{ tool: t, arguments: { n: .inf } }'),
      ['s.yaml:13:36: found Infinity, expected a number that JSON can carry'],
    ],
    [
      'a placeholder that is none',
      oneTurn("{ say: '{{workdir}} {{{{ }}', tool: t, arguments: { a: ['{{ x'] } }"),
      [
        's.yaml:13:16: unknown placeholder "{{workdir}}": expected "{{working_dir}}", or "{{{{" for two braces',
        's.yaml:13:65: unknown placeholder "{{": expected "{{working_dir}}", or "{{{{" for two braces',
      ],
    ],
    ...['(', 'no group', '(two)(groups)'].map(
      (pattern) =>
        [
          `the pattern ${pattern}`,
          `${oneTurn('say: hi')}working_dir: { pattern: '${pattern}' }\n`,
          [
            's.yaml:14:25: cannot use pattern: expected a regular expression with one group, which is the directory',
          ],
        ] as const,
    ),
    ['a tag', oneTurn('say: !file x'), ['s.yaml:13:14: cannot read YAML: Unresolved tag: !file']],
    ['a key given twice', 'kind: a\nkind: b\n', ['s.yaml:2:1: cannot read YAML: Map keys must be unique']],
    [
      'another kind',
      oneTurn('say: hi').replace('gateway-script', 'job'),
      ['s.yaml:1:7: kind: expected "gateway-script"'],
    ],
    ['an empty text', '', ['s.yaml:1:1: script: expected object, found null']],
  ];
  it.each(cases)('%s', (_name, text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });

  it('every mistake of a stage at once, in reading order', () => {
    const text = oneTurn('{ tool: a, arguments: { x: { file: no.txt } }, message: m }').replace('0.15', '-1');
    const missing = (): string => {
      throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
    };
    expect(problemsOf(text, missing).map((line) => line.split(': ', 2).join(': '))).toEqual([
      's.yaml:8:26: input',
      's.yaml:13:44: cannot read file "no.txt"',
      's.yaml:13:65: "message" needs "status" beside it',
    ]);
  });

  it('a file by an absolute path or above the size limit', () => {
    const turn = (file: string): string => oneTurn(`{ tool: t, arguments: { x: { file: ${file} } } }`);
    expect(problemsOf(turn('/etc/x'))[0]).toContain('expected a path relative to the script');
    expect(problemsOf(turn('big'), () => 'x'.repeat(1024 * 1024 + 1))[0]).toContain(
      'more than 1048576 bytes',
    );
  });
});

describe('parseScript() reads', () => {
  it('turns, prices and keys', () => {
    const script = scriptOf(sampleScript);
    expect(script.models.get('vendor/small')).toEqual({
      inputNanoUsdPerMillion: 150_000_000n,
      outputNanoUsdPerMillion: 600_000_000n,
    });
    expect(script.keys.map((key) => [key.name, key.admin, key.models])).toEqual([
      ['root', true, null],
      ['team', false, ['vendor/small']],
      ['free', false, null],
    ]);
    expect(script.scripts[0]?.turns.map((turn) => turn.kind)).toEqual([
      'answer',
      'error',
      'answer',
      'answer',
    ]);
    expect(script.scripts[0]?.finalTurn.say).toEqual(['Done.']);
  });

  it('files into arguments at any depth, but not for an argument that is named file', () => {
    const text = oneTurn('{ tool: t, arguments: { file: plain, a: [{ b: { file: sub/patch } }] } }');
    const script = parseScript(text, 'dir/s.yaml', (path) => `text of ${path}\n`).script;
    const turn = script?.scripts[0]?.turns[0];
    expect(turn?.kind === 'answer' && JSON.parse(fillGaps(turn.calls[0]?.argumentsJson ?? [], ''))).toEqual({
      file: 'plain',
      a: [{ b: 'text of dir/sub/patch\n' }],
    });
  });

  it('positions through aliases', () => {
    const first =
      '  - name: a\n    when: { contains: x }\n    turns: &t\n      - { tool: u, arguments: { n: .nan } }\n';
    const problems = problemsOf(`${header}scripts:\n${first}  - { name: b, turns: *t }\n`);
    expect(problems.map((line) => line.split(': ', 1)[0])).toEqual(['s.yaml:14:36', 's.yaml:14:36']);
  });
});

describe('openKeyRing()', () => {
  const script = scriptOf(sampleScript.replace('sk-team', 'os.environ/TEAM_KEY'));

  it('takes keys from the environment', () => {
    const { ring, problems } = openKeyRing(script, { TEAM_KEY: 'sk-from-env' });
    expect(problems).toEqual([]);
    expect(ring('Bearer sk-from-env').name).toBe('team');
    expect(() => ring('Bearer os.environ/TEAM_KEY')).toThrow('this key is not known');
  });

  it('refuses a variable that is not set, and two keys of one value, without showing it', () => {
    expect(openKeyRing(script, {}).problems.map(formatProblem)).toEqual([
      'script.yaml:5:12: key "team": environment variable "TEAM_KEY" is not set',
    ]);
    const same = openKeyRing(script, { TEAM_KEY: 'sk-admin' }).problems.map(formatProblem);
    expect(same).toEqual(['script.yaml:5:12: key "team" has the same value as key "root"']);
  });
});
