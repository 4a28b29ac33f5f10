/**
 * Nothing of a data file is lost in silence: it is filled in as it stands, or refused with its line.
 */
import { describe, expect, it } from 'vitest';

import { compileJob } from '../../dsl/compile-job.ts';
import { typedValue } from '../../dsl/inputs/input-value.ts';
import { numberLoss } from '../../dsl/number-text.ts';
import { readJsonText } from '../../dsl/rows/json-text.ts';
import { sha256 } from './test-world.ts';

type Bytes = string | Uint8Array;

function compile(form: 'csv' | 'jsonl', file: Bytes, prompt: string, where?: string) {
  const text = `kind: job
version: 1
name: demo
conversations:
  - id: a
    key: \${{ id }}/\${{ item.k }}
    model: fast
    items: {${form}: data/rows${where === undefined ? '' : `, where: ${where}`}}
    prompt: '${prompt}'
`;
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : file;
  // In pieces of three bytes: no reader relies on where one ends.
  const chunks = Array.from({ length: Math.ceil(bytes.length / 3) }, (_, at) =>
    bytes.subarray(at * 3, at * 3 + 3),
  );
  const world = {
    sha256,
    inputs: { typed: {}, values: {} },
    readFile: () => ({ problem: 'missing' }) as const,
    readRows: () => ({ chunks }),
  };
  return compileJob({ path: 'job.yaml', text }, world);
}

const prompts = (...of: Parameters<typeof compile>) =>
  compile(...of).plan?.items.map(({ prompt }) => prompt) ?? null;
const findings = (...of: Parameters<typeof compile>) =>
  compile(...of)
    .diagnostics.filter(({ severity }) => severity === 'error')
    .map(({ file, line, message }) => `${file}:${line} ${message}`);

describe('numbers of JSON lines', () => {
  it.each(['3.10', '1.0', '-0', '1e5', '2.50E+1', '1000000000000000000000', '0.30000000000000004', '42'])(
    'fills in %s as it is written',
    (number) => {
      const rows = `{"k":"x","n":${number},"deep":{"list":[0,{"n":${number}}]}}\n`;
      expect(prompts('jsonl', rows, '${{ item.n }} and ${{ item.deep.list[1].n }}')).toEqual([
        `${number} and ${number}`,
      ]);
    },
  );

  it.each([
    '12345678901234567890',
    '1e400',
    '-1e400',
    '1e-400',
    '9007199254740993',
    '3.14159265358979323846',
  ])('refuses %s, which no number keeps, with its line', (number) => {
    const rows = `{"k":"x","n":1}\n\n{"k":"y","n":${number}}\n`;
    expect(findings('jsonl', rows, '${{ item.n }}')).toEqual([
      `data/rows:3 "${number}" is more than a number keeps: it would become ${String(Number(number))}`,
    ]);
    expect(prompts('jsonl', rows.replace(/"n":(.*?)\}/g, '"n":"$1"}'), '${{ item.n }}')).toEqual([
      '1',
      number,
    ]);
  });

  it('reads a number as a number in a condition, however it is written', () => {
    const rows = '{"k":"x","n":3.10}\n{"k":"y","n":2.9e0}\n';
    expect(prompts('jsonl', rows, '${{ item.n }}', 'item.n >= 3.1')).toEqual(['3.10']);
  });

  it('says of a number what would become of it', () => {
    expect(['7', '7.0', '70e-1', '007', '1e-7', '0.0000001'].map(numberLoss)).toEqual([
      'none',
      'text',
      'text',
      'text',
      'none',
      'text',
    ]);
    expect(typedValue({ type: 'number' }, '0.1234567890123456789')).toEqual({
      problem: 'has more digits than a number keeps',
    });
  });
});

describe('keys and columns that stand twice', () => {
  it.each([
    ['{"k":"x","k":"y"}', '"k"'],
    ['{"k":"x","\\u006b":"y"}', '"k"'],
    ['{"k":"x","m":{"a":1,"b":[{"c":1,"c":2}]}}', '"c"'],
  ])('refuses %s', (row, key) => {
    expect(findings('jsonl', `{"k":"w"}\n${row}\n`, 'x')).toEqual([
      `data/rows:2 the key ${key} stands twice in an object`,
    ]);
  });

  it('takes one key in two objects, and a text that looks like keys', () => {
    const rows = String.raw`{"k":"x","m":[{"a":1},{"a":2}],"t":"{\"k\":1,\"k\":2, 12345678901234567890}"}`;
    expect(prompts('jsonl', rows, '${{ item.t }}')).toEqual(['{"k":1,"k":2, 12345678901234567890}']);
  });

  it('refuses a column that stands twice, and one that would be lost', () => {
    expect(findings('csv', 'k,b,k\n1,2,3\n', 'x')).toEqual([
      'data/rows:1 the header names the column "k" twice',
    ]);
    expect(findings('csv', 'k,__proto__\n1,2\n', 'x')).toEqual([
      'data/rows:1 "__proto__" is not a name of a column',
    ]);
    expect(findings('jsonl', '{"k":"x"}\n{"k":"y","__proto__":{"k":"z"}}\n', 'x')).toEqual([
      'data/rows:2 "__proto__" is no key of data',
    ]);
  });
});

describe('bytes that are no text', () => {
  const bytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

  it.each(['csv', 'jsonl'] as const)('refuses bytes of %s that are no UTF-8, with their line', (form) => {
    const [head, row] = form === 'csv' ? ['k', 'caf\xe9'] : ['{"k":"w"}', '{"k":"caf\xe9"}'];
    const found = ['data/rows:3 this line holds bytes that are not UTF-8 text'];
    expect(findings(form, bytes(`${head}\n\n${row}\n${head}\n`), 'x')).toEqual(found);
    expect(findings(form, bytes(`${head}\n\n${row}`), 'x')).toEqual(found);
    expect(findings(form, bytes(`${head}\n\n\xc3\x28\n`), 'x')).toEqual(found);
  });

  it.each(['csv', 'jsonl'] as const)('refuses a NUL in %s, and UTF-16', (form) => {
    const [head, row] = form === 'csv' ? ['k', 'a\0b'] : ['{"k":"w"}', '{"k":"a\0b"}'];
    expect(findings(form, `${head}\n${row}\n`, 'x')).toEqual([
      'data/rows:2 this line holds a NUL byte, which no text has',
    ]);
    const wide = Buffer.from(`${head}\n${head}\n`, 'utf16le');
    expect(findings(form, wide, 'x')).toEqual(['data/rows:1 this line holds a NUL byte, which no text has']);
  });

  it('keeps what is UTF-8, however it is cut, and the mark of a replaced character', () => {
    expect(prompts('csv', '\uFEFFk,t\r\nx,é🎉\uFFFD\r\n', '${{ item.t }}')).toEqual(['é🎉\uFFFD']);
  });
});

describe('a carriage return without a line feed', () => {
  it.each([
    ['k,t\ra,b\r', 1],
    ['k,t\nab\rcd,e\n', 2],
    ['k,t\na\r,b\n', 2],
    ['k,t\na,"b"\r\r\n', 2],
    ['k,t\na,b\r', 2],
  ])('is refused in CSV: %j', (file, line) => {
    expect(findings('csv', file, 'x')).toEqual([
      `data/rows:${line} this line holds a carriage return without a line feed`,
    ]);
  });

  it('is text in a cell in quotes, and blank space in JSON', () => {
    expect(prompts('csv', 'k,t\na,"b\rc"\n', '${{ item.t }}')).toEqual(['b\rc']);
    expect(prompts('jsonl', '{"k":"x",\r"t":"b\\rc"}\r\n', '${{ item.t }}')).toEqual(['b\rc']);
  });

  it('is refused in a job, with its line', () => {
    const { diagnostics } = compileJob(
      { path: 'job.yaml', text: 'kind: job\nversion: 1\rname: demo\n' },
      { sha256, readFile: () => ({ problem: 'missing' }) },
    );
    expect(diagnostics).toMatchObject([{ code: 'JOB121', line: 2 }]);
  });
});

describe('JSON that is no row', () => {
  it('refuses what nests too deeply before it is parsed, and texts that are no JSON', () => {
    const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    expect(readJsonText(deep(64))).toMatchObject({ written: null });
    expect(readJsonText(deep(65))).toEqual({
      problem: { message: 'this nests more than 64 levels deep', remedy: null },
    });
    expect(readJsonText('['.repeat(1_000_000))).toMatchObject({ problem: {} });
    for (const text of ['', '{', '[1,]', '{"a":01}', '"\\x"', 'NaN', '{"a":1}}'])
      expect(readJsonText(text)).toBeNull();
  });
});
