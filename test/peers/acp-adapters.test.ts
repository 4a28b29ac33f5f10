/**
 * Agents from npm as they come, each without an account: the Agent Server starts them with their preset, and their calls of
 * models go through our proxy. What they want to do waits for an answer, is refused and approved; what they cost is in the
 * rows of the proxy as on the bill. Nothing isolates them here; sandboxes are in the tests of batches.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { agentOf } from '../../core/plan/plan-agent.ts';
import { agentFolder, type InstalledAgentName } from '../../scripts/acp-agents.js';
import { parseUsd } from '../../scripted-gateway/decimal-usd.ts';
import { Harness } from '../agent/harness.ts';
import { leftProcesses } from '../e2e/process-list.ts';
import { describeWith } from '../helpers/requires.ts';
import { startGateway } from '../scripted-gateway/gateway-fixture.ts';
import { AGENT_KEY, openProxy, SESSION_ID, type OpenProxy } from './open-proxy.ts';
import { openStubVendor } from './stub-vendor.ts';

const MS_MAX = 300_000;
/** The start of a program of a hundred megabytes on a busy machine. */
const PATIENT = { timeout: 120_000, interval: 50 };
const PRICES = { input_cost_per_token: '0.0000012375', output_cost_per_token: '0.0000049625' };

interface Started {
  readonly harness: Harness;
  readonly proxy: OpenProxy;
  reaches(status: string): Promise<void>;
  answer(accept: boolean): Promise<void>;
  /** A file of the workspace; null when it is not there. */
  file(name: string): string | null;
}

async function started(
  name: InstalledAgentName,
  { gateway, key, confirms = false }: { gateway: string; key: string; confirms?: boolean },
): Promise<Started> {
  const proxy = await openProxy({
    vendor: 'proxyvendor',
    entries: [
      {
        name: 'coder',
        params: { model: 'openai/vendor/small', api_base: `${gateway}/v1`, api_key: key, ...PRICES },
      },
    ],
  });
  onTestFinished(() => proxy.close());
  const harness = await Harness.start();
  onTestFinished(async () => {
    await harness.stop();
    // Before its folder is removed, which nothing may write to any more.
    expect(await leftProcesses(harness.folder)).toEqual([]);
  });
  const preset = agentOf(name, {});
  const [program = '', ...args] = preset?.command ?? [];
  const text = 'Add an ES module entry to this package.';
  const { status } = await harness.call('POST /api/conversations', {
    json: {
      ...harness.startBody({ initial_message: { role: 'user', content: [{ type: 'text', text }] } }),
      agent: {
        kind: 'ACPAgent',
        llm: { model: 'openai/coder', api_key: AGENT_KEY, base_url: `${proxy.url}/v1` },
        acp_command: [path.join(agentFolder(name, process.env) ?? '', 'bin', program), ...args],
        // A sandbox has no such variable; a machine that tests may, and then Claude Code refuses to run as root.
        acp_env: { ...preset?.environment, IS_SANDBOX: '' },
      },
      ...(confirms ? { confirmation_policy: { kind: 'AlwaysConfirm' } } : {}),
    },
  });
  expect(status).toBe(201);
  return {
    ...{ harness, proxy },
    async reaches(wanted) {
      const status = async (): Promise<unknown> => {
        const { execution_status: now } = (await harness.at('GET ')).body;
        if (now !== 'error' || wanted === 'error') return now;
        // What ended it, in place of a word that will not change any more.
        return (await harness.eventsOf('ConversationErrorEvent')).at(-1)?.['detail'];
      };
      await expect.poll(status, PATIENT).toBe(wanted);
    },
    async answer(accept) {
      const body = { accept, reason: accept ? 'fine' : 'Call it entry.mjs.' };
      expect((await harness.at('POST /events/respond_to_confirmation', body)).status).toBe(200);
    },
    file(given) {
      const file = path.join(harness.workspace, given);
      return existsSync(file) ? readFileSync(file, 'utf8') : null;
    },
  };
}

/** A response in frames, as the vendor sends them to Codex. */
function responseFrames(id: string, item: object): readonly string[] {
  const usage = {
    input_tokens: 1_000,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 1_020,
  };
  const event = (type: string, body: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
  return [
    event('response.created', { response: { id, status: 'in_progress' } }),
    event('response.output_item.done', {
      output_index: 0,
      item: { id: `${id}-item`, status: 'completed', ...item },
    }),
    event('response.completed', { response: { id, status: 'completed', usage } }),
  ];
}

interface CodexRequest {
  readonly input: readonly { readonly type: string; readonly output?: unknown }[];
}

/** What a confirmation is asked for in these scripts, by the tool of each agent. */
const WRITERS = {
  opencode: {
    tool: 'write',
    ownTool: 'bash',
    file: 'filePath',
    content: 'content',
    route: '/v1/chat/completions',
  },
  'claude-code': {
    tool: 'Write',
    ownTool: 'Bash',
    file: 'file_path',
    content: 'content',
    route: '/v1/messages',
  },
} as const;

function confirmedScript(name: keyof typeof WRITERS): string {
  const { tool, ownTool, file, content } = WRITERS[name];
  const write = (given: string): object => ({
    tool,
    arguments: { [file]: given, [content]: 'export default 1;\n' },
    usage: { prompt: 1_873, completion: 53 },
  });
  return JSON.stringify({
    kind: 'gateway-script',
    version: 1,
    keys: [{ key: 'sk-team', name: 'team' }],
    models: { 'vendor/small': { input: '1.2375', output: '4.9625' } },
    scripts: [
      {
        name: 'esm',
        when: { contains: 'Add an ES module entry', tool: ownTool },
        turns: [
          write('index.mjs'),
          write('entry.mjs'),
          { say: 'Done.', usage: { prompt: 2_001, completion: 7 } },
        ],
      },
      { name: 'title', turns: [{ say: 'A title', usage: { prompt: 301, completion: 7 } }] },
    ],
  });
}

describeWith('acp-agents', 'agents from npm', () => {
  it(
    'Codex works without an account, by calls of responses alone',
    async () => {
      const vendor = await openStubVendor();
      onTestFinished(() => vendor.close());
      vendor.answer = (res, seen) => {
        const { input } = JSON.parse(seen.body) as CodexRequest;
        const isDone = input.some(({ type }) => type === 'function_call_output');
        const item = isDone
          ? { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is there.' }] }
          : {
              ...{ type: 'function_call', name: 'exec_command', call_id: 'call-1' },
              arguments: JSON.stringify({ cmd: 'echo made > made.txt && cat made.txt' }),
            };
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const frame of responseFrames(`resp_${vendor.seen.length}`, item)) res.write(frame);
        res.end();
      };
      const { harness, proxy, reaches, file } = await started('codex', {
        gateway: vendor.origin,
        key: 'sk-vendor-key',
      });
      await reaches('finished');
      expect(file('made.txt')).toBe('made\n');
      expect(vendor.seen.map(({ url }) => url)).toEqual(['/v1/responses', '/v1/responses']);
      const heard = JSON.parse(vendor.seen[1]?.body ?? '{}') as CodexRequest;
      expect(JSON.stringify(heard.input.at(-1))).toContain('made');
      const said = JSON.stringify(await harness.events());
      expect(said).toContain('It is there.');
      expect(said).not.toContain('sk-vendor-key');
      const rows = await proxy.rows();
      const cost = 1_000 * 1_237.5 + 20 * 4_962.5;
      expect(rows.map(({ route, state, sessionId, cost: nano }) => [route, state, sessionId, nano])).toEqual(
        [1, 2].map(() => ['/v1/responses', 'succeeded', SESSION_ID, cost]),
      );
    },
    MS_MAX,
  );

  it.each(['opencode', 'claude-code'] as const)(
    '%s asks before it writes, is refused and rests, goes on with the reason, and is approved',
    async (name) => {
      const gateway = await startGateway(confirmedScript(name));
      const { harness, proxy, reaches, answer, file } = await started(name, {
        gateway: gateway.url,
        key: 'sk-team',
        confirms: true,
      });
      await reaches('waiting_for_confirmation');
      expect(file('index.mjs')).toBe(null);
      await answer(false);
      await reaches('idle');
      const [refusal] = await harness.eventsOf('UserRejectObservation');
      expect(refusal).toMatchObject({ rejection_reason: 'Call it entry.mjs.' });
      await harness.at('POST /events', { role: 'user', content: 'Then go on.', run: true });
      await reaches('waiting_for_confirmation');
      expect([file('index.mjs'), file('entry.mjs')]).toEqual([null, null]);
      await answer(true);
      await reaches('finished');
      expect([file('index.mjs'), file('entry.mjs')]).toEqual([null, 'export default 1;\n']);
      expect(await harness.eventsOf('AgentErrorEvent')).toEqual([]);
      const bill = gateway.ledger.rows();
      const rows = await proxy.rows();
      expect(rows.map(({ responseId, cost }) => [responseId, cost]).sort()).toEqual(
        bill.map((row) => [row.request_id, Number(parseUsd(row.cost_usd))]).sort(),
      );
      expect(rows.filter(({ route }) => route === WRITERS[name].route).length).toBe(rows.length);
      const said = JSON.stringify(await harness.events());
      expect(said).not.toContain('sk-team');
      expect(said).not.toContain(gateway.url);
    },
    MS_MAX,
  );
});
