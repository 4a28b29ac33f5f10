/**
 * Agents from npm at tasks of the first batch: in namespaces and in containers, through our proxy, against the scripted
 * gateway. Nothing of them was made for us; their programs come from the registry as they are.
 */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { agentFolder, AGENT_VERSIONS } from '../../scripts/acp-agents.js';
import { closeDaemon, dockerSocket } from '../../scripts/docker-daemon.ts';
import { MACHINE_BASE, makeBaseImage } from '../../scripts/machine-images.ts';
import { agentGateway, promptOf, SCRIPTED_TASKS, type ScriptedTask } from '../e2e/agent-scripts.ts';
import { copyBatch, type BatchCopy } from '../e2e/batch-copy.ts';
import { openGateway, type BatchGateway } from '../e2e/batch-gateway.ts';
import { ledgerRows, sumOf } from '../e2e/ledger.ts';
import { Results } from '../e2e/results.ts';
import { runStatus } from '../e2e/run-status.ts';
import { runProgram, startProgram } from '../e2e/running-program.ts';
import { missing, describeWith } from '../helpers/requires.ts';

const MS_MAX = 900_000;
const RUN_ID = 'agents';
type AgentName = 'opencode' | 'claude-code';
const REPOSITORY_OF = { 'esm-entry': 'npm/ms', 'choice-suggestions': 'npm/commander' } as const;
const CHECK_OF = {
  'esm-entry': 'test/esm.test.mjs',
  'choice-suggestions': 'test/choice-suggestions.test.mjs',
};
/** What each agent is expected to have done, in the words that our transcript has for it. */
const TOOLS_OF: Readonly<Record<AgentName, readonly string[]>> = {
  opencode: ['terminal', 'edit', 'read'],
  'claude-code': ['terminal', 'edit', 'read'],
};

interface JobOptions {
  readonly tasks: readonly ScriptedTask[];
  readonly confirmation: 'never' | 'always';
}

function job(
  agent: AgentName,
  { tasks = SCRIPTED_TASKS, confirmation = 'never' }: Partial<JobOptions> = {},
): string {
  const conversations = tasks.map(
    (task) => `  - id: ${task}
    repo: ${REPOSITORY_OF[task]}
    agent: { use: ${agent}, version: ${AGENT_VERSIONS[agent]} }
    confirmation: ${confirmation}
    prompt: ${promptOf(task)}
    verify: { command: node --test ${CHECK_OF[task]}, timeout: 2m }
`,
  );
  return `kind: job
version: 1
name: agents
defaults: { branch: main, model: coder }
conversations:
${conversations.join('')}wait: { until: [FINISHED, ERROR, STUCK], deadline: 1h, no_progress: 30m }
collect: [trajectory, diff]
cleanup: { sandbox: delete }
reconcile: { rows: gateway, settle: 1s }
report: [{ to: report.md }, { to: report.html }]
`;
}

interface Prepared {
  readonly copy: BatchCopy;
  readonly gateway: BatchGateway;
}

async function prepared(agent: AgentName, options: Partial<JobOptions> = {}): Promise<Prepared> {
  const copy = copyBatch(missing('bwrap') === null ? 'namespaces' : 'none');
  onTestFinished(() => copy.close());
  writeFileSync(path.join(copy.example, 'gateway.yaml'), agentGateway([agent]));
  writeFileSync(path.join(copy.example, 'job.yaml'), job(agent, options));
  const gateway = await openGateway(copy);
  onTestFinished(() => gateway.stop());
  return { copy, gateway };
}

/** As a user installs one that did not come from npm: what the cache has was installed from there by the same command. */
async function install(copy: BatchCopy, agent: AgentName): Promise<void> {
  const from = agentFolder(agent, process.env) ?? '';
  const { code, stderr } = await runProgram(copy, 'bin/parley.js', ['agent', 'add', agent, '--from', from]);
  expect(code, stderr).toBe(0);
}

/** Each of `keys` has passed its check, and the bill is the account of the proxy. */
async function isRight(
  { copy, gateway }: Prepared,
  { isWhole, keys = SCRIPTED_TASKS }: { readonly isWhole: boolean; readonly keys?: readonly ScriptedTask[] },
): Promise<void> {
  const status = await runStatus(copy, RUN_ID);
  expect(status?.items).toMatchObject(
    keys.map(() => ({ outcome: 'succeeded', execution_status: 'FINISHED' })),
  );
  const results = new Results(copy, RUN_ID);
  for (const key of keys) {
    expect(results.patch(key)).toContain(key === 'esm-entry' ? 'index.mjs' : 'choices.js');
    // Neither the key of the gateway nor its address reaches an agent, whatever it says of its environment.
    const said = JSON.stringify(await results.events(key));
    expect(said).not.toContain(gateway.env['PARLEY_GATEWAY_KEY']);
    expect(said).not.toContain(gateway.env['PARLEY_GATEWAY_URL']);
  }
  const sums = results.sums();
  expect(sums.total).toBe(sumOf(ledgerRows(copy)));
  // A call whose reply the kill took away is billed, and no record says whose it was.
  expect(sums.assigned + sums.unassigned).toBe(sums.total);
  if (isWhole) expect(sums.assigned).toBe(sums.total);
}

function ledgerCount(copy: BatchCopy): number {
  try {
    return ledgerRows(copy).length;
  } catch {
    // Not there yet, or half a line.
    return 0;
  }
}

const AGENTS: readonly AgentName[] = ['opencode', 'claude-code'];

describeWith('acp-agents', 'an agent from npm', () => {
  it.each(AGENTS)(
    '%s does two tasks of the first batch to patches that pass their checks, and its bill is the proxy account to the nano-dollar',
    async (agent) => {
      const place = await prepared(agent);
      const { copy, gateway } = place;
      const version = AGENT_VERSIONS[agent];
      const absent = await runProgram(copy, 'bin/parley.js', ['run', 'job.yaml'], gateway.env);
      expect(absent.code).toBe(2);
      expect(absent.stderr).toContain(`install it: parley agent add ${agent}@${version}`);
      await install(copy, agent);
      const plan = await runProgram(copy, 'bin/parley.js', ['plan', 'job.yaml'], gateway.env);
      expect(plan.stdout).toContain(`installed: ${agent} ${version}`);
      const words = ['run', 'job.yaml', '--run-id', RUN_ID];
      const { code, stderr } = await startProgram(copy, 'bin/parley.js', words, gateway.env).ended;
      expect(code, stderr).toBe(0);
      await isRight(place, { isWhole: true });
      const events = await new Results(copy, RUN_ID).events('esm-entry');
      const actions = events.flatMap(({ body }) => (body['kind'] === 'ActionEvent' ? [body] : []));
      expect(actions.map((body) => body['tool_name'])).toEqual(expect.arrayContaining([...TOOLS_OF[agent]]));
      expect(JSON.stringify(events)).toContain('its test passes');
      const removed = await runProgram(copy, 'bin/parley.js', ['agent', 'remove', agent]);
      expect(removed.code, removed.stderr).toBe(0);
      expect(existsSync(path.join(copy.dataDir, 'agents', agent))).toBe(false);
    },
    MS_MAX,
  );

  it.each(AGENTS)(
    '%s is killed with the whole run in the middle, and goes on when the run is resumed',
    async (agent) => {
      const place = await prepared(agent);
      const { copy, gateway } = place;
      await install(copy, agent);
      const first = startProgram(copy, 'bin/parley.js', ['run', 'job.yaml', '--run-id', RUN_ID], gateway.env);
      await expect
        .poll(() => ledgerCount(copy), { timeout: MS_MAX, interval: 100 })
        .toBeGreaterThanOrEqual(3);
      first.kill();
      expect((await first.ended).code).toBe(null);
      const second = startProgram(copy, 'bin/parley.js', ['resume', RUN_ID], gateway.env);
      const { code, stderr } = await second.ended;
      expect(code, stderr).toBe(0);
      await isRight(place, { isWhole: false });
    },
    MS_MAX,
  );

  it.each(AGENTS)(
    '%s in a sandbox asks before it acts: refused once, told to go on, and approved from then on',
    async (agent) => {
      const keys = ['esm-entry'] as const;
      const place = await prepared(agent, { tasks: keys, confirmation: 'always' });
      const { copy, gateway } = place;
      await install(copy, agent);
      const service = startProgram(copy, 'bin/parley.js', ['serve', '--port', '0', '--json'], gateway.env);
      onTestFinished(() => service.kill());
      const [url, key] = [await service.line(/"url":"([^"]+)"/), await service.line(/"key":"([^"]+)"/)];
      const ask = caller(url, key);
      const words = ['run', 'job.yaml', '--run-id', RUN_ID];
      const run = startProgram(copy, 'bin/parley.js', words, gateway.env);
      const refused = await conversationAt(ask, 'WAITING_FOR_CONFIRMATION');
      const answers = `/app-conversations/${refused.id}`;
      await ask(`${answers}/confirmation`, { accept: false, reason: 'Not yet.' });
      await conversationAt(ask, 'IDLE');
      await ask(`${answers}/send-message`, { content: [{ type: 'text', text: 'Now go on.' }] });
      let approved = 0;
      const isOver = run.ended.then(() => true);
      while (!(await Promise.race([isOver, pause(POLL_MS).then(() => false)]))) {
        const { status } = await conversationOf(ask);
        if (status !== 'WAITING_FOR_CONFIRMATION') continue;
        await ask(`${answers}/confirmation`, { accept: true, reason: 'fine' });
        approved += 1;
      }
      const { code, stderr } = await run.ended;
      expect(code, stderr).toBe(0);
      expect(approved).toBeGreaterThanOrEqual(2);
      await isRight(place, { isWhole: true, keys });
      const events = await new Results(copy, RUN_ID).events('esm-entry');
      const refusals = events.filter(({ body }) => body['kind'] === 'UserRejectObservation');
      expect(refusals).toMatchObject([{ body: { rejection_reason: 'Not yet.' } }]);
    },
    MS_MAX,
  );
});

const POLL_MS = 100;
type Ask = (route: string, body?: unknown) => Promise<unknown>;
interface Seen {
  readonly id: string;
  readonly status: string;
}

function caller(url: string, key: string): Ask {
  return async (route, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${url}/api/v1${route}`, { headers, ...post });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${route} answered ${answer.status}: ${text}`);
    return JSON.parse(text) as unknown;
  };
}

/** The only one there is. */
async function conversationOf(ask: Ask): Promise<Seen> {
  const page = (await ask('/app-conversations/search')) as {
    readonly items: readonly { readonly id: string; readonly execution_status: string | null }[];
  };
  const [row] = page.items;
  return { id: row?.id ?? '', status: row?.execution_status ?? '' };
}

/** Once it is there. */
async function conversationAt(ask: Ask, status: string): Promise<Seen> {
  await expect
    .poll(async () => (await conversationOf(ask)).status, { timeout: MS_MAX, interval: POLL_MS })
    .toBe(status);
  return await conversationOf(ask);
}

/** One that is no preset: it lies in a folder of this host that sandboxes see. */
function probingJob(program: string, gatewayUrl: string): string {
  const reach = (words: string): string => `node -e "${words}"`;
  const steps = [
    { run: "env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'" },
    {
      run: reach(
        `fetch('${gatewayUrl}/models').then(() => console.log('REACHED'), () => console.log('denied'))`,
      ),
    },
    {
      run: reach(
        "fetch(process.env.LLM_BASE_URL + '/models', { headers: { authorization: 'Bearer ' + process.env.LLM_API_KEY } }).then(({ status }) => console.log('proxy', status))",
      ),
    },
    { stop: 'end_turn' },
  ];
  return `kind: job
version: 1
name: probing
conversations:
  - id: probe
    repo: npm/ms
    model: coder
    agent: { use: probe, command: [node, ${program}], environment: { ACP_HEARD: heard.jsonl } }
    prompt: |
      ${JSON.stringify(steps)}
collect: [{ files: [heard.jsonl] }]
cleanup: { sandbox: delete }
`;
}

describeWith('bwrap', 'an agent by its command', () => {
  it(
    'finds neither the key of the gateway nor its address in any environment, and reaches the proxy alone',
    async () => {
      const copy = copyBatch('namespaces');
      onTestFinished(() => copy.close());
      const gateway = await openGateway(copy);
      onTestFinished(() => gateway.stop());
      const folder = path.join(copy.example, 'shared');
      const program = path.join(folder, 'agent.mjs');
      cpSync(path.join(import.meta.dirname, '../agent/acp/scripted-agent.js'), program);
      const file = path.join(copy.example, 'parley.yaml');
      const text = readFileSync(file, 'utf8').replace('isolation: auto', `$&, shared_folders: ['${folder}']`);
      writeFileSync(file, text);
      const { PARLEY_GATEWAY_URL: url = '', PARLEY_GATEWAY_KEY: key = '' } = gateway.env;
      writeFileSync(path.join(copy.example, 'job.yaml'), probingJob(program, url));
      const words = ['run', 'job.yaml', '--run-id', RUN_ID];
      const { code, stderr, stdout } = await runProgram(copy, 'bin/parley.js', words, gateway.env);
      expect(code, stdout + stderr).toBe(0);
      const [name = ''] = readdirSync(path.join(copy.resultsDir, RUN_ID, 'probe'), {
        recursive: true,
        encoding: 'utf8',
      }).filter((one) => one.endsWith('heard.jsonl'));
      const heard = new Results(copy, RUN_ID).text('probe', name).split('\n');
      const [variables = '', gatewaySaid, proxySaid] = heard.flatMap((line) => {
        const { ran } = (line === '' ? {} : JSON.parse(line)) as { readonly ran?: string };
        return ran === undefined ? [] : [ran];
      });
      expect(variables).toContain('LLM_API_KEY=');
      expect(variables).not.toContain(key);
      expect(variables).not.toContain(new URL(url).host);
      expect([gatewaySaid, proxySaid]).toEqual(['denied\n', 'proxy 200\n']);
    },
    MS_MAX,
  );
});

/** As an operator does: the agent is installed, put into an image, and the deployment names that by its digest. */
async function installInImage(copy: BatchCopy): Promise<void> {
  await install(copy, 'opencode');
  const socket = dockerSocket();
  const env = { DOCKER_HOST: `unix://${socket}`, DOCKER_BUILDKIT: '0' };
  await makeBaseImage({ socket, env });
  const words = ['image', 'build', '--agent', 'opencode', '--sandbox-image', MACHINE_BASE, '--json'];
  const built = await runProgram(copy, 'bin/parley.js', words, env);
  expect(built.code, built.stderr).toBe(0);
  const image = /"id":"(sha256:[0-9a-f]{64})"/.exec(built.stdout)?.[1] ?? '';
  const runtime = `runtime: { kind: docker, docker: { socket: ${socket}, image: '${image}' } }`;
  const file = path.join(copy.example, 'parley.yaml');
  const text = readFileSync(file, 'utf8').replace(/^runtime: .*$/m, runtime);
  expect(text).toContain(runtime);
  writeFileSync(file, text);
}

describeWith('acp-agents', 'an agent from npm in an image', () => {
  describeWith('dockerd', 'as the agent in containers', () => {
    afterAll(closeDaemon);

    it(
      'does two tasks of the first batch, killed with the whole run in the middle and resumed',
      async () => {
        const place = await prepared('opencode');
        const { copy, gateway } = place;
        await installInImage(copy);
        const words = ['run', 'job.yaml', '--run-id', RUN_ID];
        const first = startProgram(copy, 'bin/parley.js', words, gateway.env);
        await expect
          .poll(() => ledgerCount(copy), { timeout: MS_MAX, interval: 100 })
          .toBeGreaterThanOrEqual(3);
        first.kill();
        await first.ended;
        const { code, stderr } = await startProgram(copy, 'bin/parley.js', ['resume', RUN_ID], gateway.env)
          .ended;
        expect(code, stderr).toBe(0);
        await isRight(place, { isWhole: false });
      },
      MS_MAX,
    );
  });
});
