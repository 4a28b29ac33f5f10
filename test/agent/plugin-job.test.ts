/**
 * A job with a plugin, from the job file to the tool that its plugin brings: cloned through the relay, started in the
 * sandbox with a secret of the conversation in its configuration, and called by the model.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { copyBatch, TOKEN, type BatchCopy } from '../e2e/batch-copy.ts';
import { openGateway } from '../e2e/batch-gateway.ts';
import { readZip } from '../e2e/zip-file.ts';
import { startProgram } from '../e2e/running-program.ts';
import { git } from './harness.ts';

const MS_MAX = 600_000;

/** A tool server without a dependency, as it has to be where nothing is installed: one line of JSON each way. */
const SERVER = `
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'seal', inputSchema: { type: 'object', properties: {} } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'sealed with ' + (process.env.SEAL ?? '').length + ' letters' }] }),
};
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const { id, method, params } of lines.filter(Boolean).map((line) => JSON.parse(line)))
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }));
});
`;

const JOB = `kind: job
version: 1
name: sealed
secrets: { reviewToken: { from: env, name: PARLEY_EXAMPLE_TOKEN } }
conversations:
  - id: seal
    repo: npm/ms
    branch: main
    model: coder
    prompt: Seal the package.
    secrets: { REVIEW_TOKEN: reviewToken }
    plugins: [{ source: acme/plugins, path: seal }]
cleanup: { sandbox: delete }
collect: [trajectory]
`;

const GATEWAY = `kind: gateway-script
version: 1
keys: [{ key: os.environ/PARLEY_GATEWAY_KEY, name: sealed, models: [acme/coder-1] }]
models: { acme/coder-1: { input: '1', output: '2' } }
scripts:
  - name: seal
    when: { contains: Seal the package }
    turns:
      - { tool: seal, arguments: {} }
      - { tool: finish, arguments: { message: It is sealed. } }
`;

function makePluginRepository(copy: BatchCopy): void {
  const work = path.join(copy.root, 'plugin-work');
  const folder = path.join(work, 'seal');
  mkdirSync(path.join(folder, '.claude-plugin'), { recursive: true });
  writeFileSync(path.join(folder, '.claude-plugin/plugin.json'), '{"name": "seal"}');
  writeFileSync(path.join(folder, 'server.mjs'), SERVER);
  const seal = {
    command: 'node',
    args: ['${CLAUDE_PLUGIN_ROOT}/server.mjs'],
    env: { SEAL: '${REVIEW_TOKEN}' },
  };
  writeFileSync(path.join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { seal } }));
  git(work, 'init', '-q', '-b', 'main');
  git(work, 'add', '-A');
  git(work, '-c', 'user.name=a', '-c', 'user.email=b', 'commit', '-q', '-m', 'x');
  mkdirSync(path.join(copy.dataDir, 'repos/acme'), { recursive: true });
  execFileSync('git', ['clone', '-q', '--bare', work, path.join(copy.dataDir, 'repos/acme/plugins.git')]);
}

it(
  'calls the tool of a plugin that the job names',
  async () => {
    const copy = copyBatch('none');
    onTestFinished(() => copy.close());
    writeFileSync(path.join(copy.example, 'gateway.yaml'), GATEWAY);
    writeFileSync(path.join(copy.example, 'job.yaml'), JOB);
    const gateway = await openGateway(copy);
    onTestFinished(() => gateway.stop());
    makePluginRepository(copy);
    const ended = await startProgram(copy, 'bin/parley.js', ['run', 'job.yaml'], gateway.env).ended;
    expect([ended.code, ended.stderr]).toEqual([0, expect.any(String)]);
    const found = readdirSync(copy.resultsDir, { recursive: true, encoding: 'utf8' });
    const archive = found.find((name) => name.endsWith('trajectory.zip')) ?? '';
    const entries = await readZip(readFileSync(path.join(copy.resultsDir, archive)));
    const texts = entries.map(({ content }) => String(content)).join('\n');
    expect(texts).toContain(`sealed with ${TOKEN.length} letters`);
    expect(texts).toContain('MCPToolObservation');
    expect(texts).not.toContain(TOKEN);
  },
  MS_MAX,
);
