// The working directory: found in what the agent says of itself, put into every gap, and never into a file's text.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { systemPrompt } from '../../agent/model/prompt.ts';
import {
  braceMark,
  fillGaps,
  gapMark,
  inJson,
  joinTexts,
  quoteText,
  readGaps,
} from '../../scripted-gateway/script/gap-text.ts';
import { defaultPattern, findWorkingDir, readPattern } from '../../scripted-gateway/script/working-dir.ts';
import { chat, header, scriptOf, startGateway, user } from './gateway-fixture.ts';

const piece = fc.oneof(fc.string(), fc.constantFrom('{', '}', '"', '\\', gapMark, braceMark));
const texts = fc.array(piece).map((parts) => parts.join(''));

describe('readGaps()', () => {
  it('gives back every text whose braces are doubled', () => {
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1 }), (parts) => {
        const written = parts.map((part) => part.replaceAll('{{', braceMark)).join(gapMark);
        // A brace that ends one part and the gap's own would be read as one longer run.
        fc.pre(!parts.slice(0, -1).some((part) => part.endsWith('{')));
        expect(readGaps(written)).toEqual({ text: parts, unknown: [] });
      }),
    );
  });

  it('names what is no gap', () => {
    expect(readGaps('a {{ b }} c').unknown).toEqual(['{{ b }}']);
    expect(readGaps("docker ps --format '{{.Names}}'").unknown).toEqual(['{{.Names}}']);
    expect(readGaps(`{{${'x'.repeat(1000)}}}`).unknown).toEqual(['{{']);
    expect(readGaps('{ "a": { "b": {} }}').unknown).toEqual([]);
  });
});

describe('texts with gaps', () => {
  it('are filled inside JSON as they are filled outside', () => {
    const gaps = fc.array(fc.string(), { minLength: 1 });
    fc.assert(
      fc.property(gaps, gaps, fc.string(), (one, two, directory) => {
        const json = joinTexts([['['], quoteText(one), [','], quoteText(two), [']']]);
        const expected = [fillGaps(one, directory), fillGaps(two, directory)];
        expect(JSON.parse(fillGaps(json, inJson(directory)))).toEqual(expected);
      }),
    );
  });
});

describe('findWorkingDir()', () => {
  const pattern = readPattern(defaultPattern);
  if (pattern === null) throw new Error('the default pattern cannot be read');
  const rule = { from: 'system', pattern } as const;
  const find = (role: string, content: unknown) => findWorkingDir([{ role, content }], rule);

  it.each(['/workspace/project', '/a b/c.d/yaml-2.0', '/srv/é{}"'])(
    'finds %s in the prompt of the agent',
    (dir) => {
      for (const system_suffix of ['', 'Be brief.']) {
        const meta = { system_prompt: null, system_suffix, working_dir: dir };
        expect(find('system', systemPrompt(meta as Parameters<typeof systemPrompt>[0]))).toBe(dir);
      }
    },
  );

  it('looks at the messages of one role, text parts included', () => {
    const content = [{ type: 'text', text: 'Your working directory is /w.' }];
    expect(find('developer', content)).toBe('/w');
    expect(find('user', content)).toBeNull();
    expect(findWorkingDir([{ role: 'user', content }], { ...rule, from: 'user' })).toBe('/w');
  });
});

const gapScript = `${header}scripts:
  - name: gaps
    turns:
      - say: 'In {{working_dir}}, with {{{{ left.'
        tool: edit
        arguments:
          paths: ['{{working_dir}}/a', '{{working_dir}}/b:{{working_dir}}']
          text: { file: literal.txt }
          '{{working_dir}}': 1
      - say: No gap.
`;

describe('a script with gaps', () => {
  const messages = (dir: string) => [
    { role: 'system', content: `You work.\nYour working directory is ${dir}.\nMore.` },
    user('go'),
  ];

  it('answers each agent with its own directory and leaves files and keys alone', async () => {
    const { url } = await startGateway(gapScript, { readFile: () => 'as {{working_dir}} is' });
    for (const dir of ['/one', '/two "quoted"\\']) {
      const response = await chat(url, { model: 'vendor/small', messages: messages(dir) });
      const { choices } = (await response.json()) as Completion;
      expect(choices[0]?.message.content).toBe(`In ${dir}, with {{ left.`);
      expect(JSON.parse(choices[0]?.message.tool_calls[0]?.function.arguments ?? '')).toEqual({
        paths: [`${dir}/a`, `${dir}/b:${dir}`],
        text: 'as {{working_dir}} is',
        '{{working_dir}}': 1,
      });
    }
  });

  it('refuses an agent that names none, with the pattern, and bills nothing', async () => {
    const { url, ledger } = await startGateway(gapScript);
    const response = await chat(url, { model: 'vendor/small', messages: [user('go')] });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: { message: string } }).error.message).toBe(
      `Cannot answer: no system message names the working directory: nothing matches "${defaultPattern}"`,
    );
    expect(ledger.rows()).toEqual([]);
    const later = [user('go'), { role: 'assistant', content: 'x' }];
    expect((await chat(url, { model: 'vendor/small', messages: later })).status).toBe(200);
  });

  it('may say itself where to look', async () => {
    const text = `${gapScript}working_dir: { from: user, pattern: '^cwd=(\\S+)' }\n`;
    expect(scriptOf(text).workingDir).toEqual({ from: 'user', pattern: /^cwd=(\S+)/mu });
    const { url } = await startGateway(text);
    const response = await chat(url, { model: 'vendor/small', messages: [user('go\ncwd=/home/x y')] });
    const { choices } = (await response.json()) as Completion;
    expect(choices[0]?.message.content).toBe('In /home/x, with {{ left.');
  });
});

interface Completion {
  readonly choices: readonly {
    readonly message: {
      readonly content: string;
      readonly tool_calls: readonly { readonly function: { readonly arguments: string } }[];
    };
  }[];
}
