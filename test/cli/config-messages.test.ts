/** What people read of a mistake in `parley.yaml`: place, line, caret, remedy; and that no secret is in it. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell } from './fake-shell.ts';
import { expectGolden } from './golden-file.ts';

const ENTRY = `proxy_config:
  model_list:
    - model_name: coder
      proxyvendor_params:
        model: openai/big
        api_base: https://gateway.example.com/v1
        api_key: os.environ/SET
`;

/** Each is one mistake; the name is what the golden file calls it. */
const MISTAKES: Readonly<Record<string, string>> = {
  'a key with a slip of the finger': 'limits:\n  idel_time: 60\n',
  'a key in another place': 'limits: { idle_time: 60 }\non_full: queue\n',
  'a key that nobody has': 'capacity:\n  sandboxes: 5\n  colour: red\n',
  'a word that is none': 'capacity: { sandboxes: 5, on_full: quue }\n',
  'a number out of bounds': 'runtime:\n  limits: { memory_mb: -5 }\n',
  'a wrong type': 'store: [.parley]\n',
  'broken YAML': 'store:\n\tpath: .parley\n',
  'broken YAML beside a secret': 'gateway: { export: { key: hunter2hunter2, url: [ } }\n',
  'a secret in clear':
    'code_hosts:\n  own: { url: "https://code.example.com/{name}", token: hunter2hunter2 }\n',
  'the length of a session': 'limits: { session_hours: 24 }\n',
  'the word of another proxy': ENTRY.replace('proxyvendor_params', 'litellm_params'),
  'the prefix of another proxy': ENTRY.replace('openai/big', 'litellm_proxy/big'),
  'a slip in proxy_config': ENTRY.replace('model_list', 'modle_list'),
  'a slip in the parameters of a model': `${ENTRY}        timout: 30\n`,
  'a slip in the settings of the proxy': `${ENTRY}  general_settings:\n    forward_client_header_to_llm_api: true\n`,
  'a base without its end': ENTRY.replace('/v1', ''),
  'a variable that is not set': ENTRY.replace('os.environ/SET', 'os.environ/UNSET'),
  'a mistake beside a key': ENTRY.replace(
    / {8}model: .*\n.*\n.*\n/,
    '        { model: big, api_base: "https://g.example.com/v1", api_key: hunter2hunter2 }\n',
  ),
};

it('is shown with its line, a caret and what to write instead', async () => {
  const blocks: string[] = [];
  for (const [name, text] of Object.entries(MISTAKES)) {
    const cwd = tempDir();
    writeFileSync(path.join(cwd, 'parley.yaml'), text);
    const shell = fakeShell({ cwd, env: { SET: 'a-key' } });
    await runCli(['config', 'check'], shell);
    blocks.push(`--- ${name}\n${shell.stdout.text}`);
    expect(shell.stdout.text, name).not.toContain('hunter2');
    expect(shell.stdout.text, name).toMatch(/^parley\.yaml:\d+:\d+: (error|warning): /);
  }
  expectGolden('config-messages.out', blocks.join('\n'));
});

it('is shown in the same way by a command that cannot go on', async () => {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'parley.yaml'), 'limits:\n  idel_time: 60\n');
  const shell = fakeShell({ cwd });
  expect(await runCli(['status'], shell)).toBe(2);
  expect(shell.stderr.text).toContain('    2 |   idel_time: 60\n      |   ^~~~~~~~~\n');
});
