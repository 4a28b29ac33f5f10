/**
 * OpenCode from npm as the agent of conversations: in namespaces, through our proxy, against the scripted gateway. Nothing
 * of it was made for us; its program comes from the registry as it is.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { opencodeFolder, OPENCODE_VERSION } from '../../scripts/acp-agents.js';
import { closeDaemon, dockerSocket } from '../../scripts/docker-daemon.ts';
import { MACHINE_BASE, makeBaseImage } from '../../scripts/machine-images.ts';
import { copyBatch, type BatchCopy } from '../e2e/batch-copy.ts';
import { openGateway, type BatchGateway } from '../e2e/batch-gateway.ts';
import { ledgerRows, sumOf } from '../e2e/ledger.ts';
import { Results } from '../e2e/results.ts';
import { runStatus } from '../e2e/run-status.ts';
import { runProgram, startProgram } from '../e2e/running-program.ts';
import { missing, describeWith } from '../helpers/requires.ts';

const MS_MAX = 900_000;
const RUN_ID = 'opencode';

/** The same task as in the first batch, in the words of OpenCode's tools. */
const GATEWAY = `kind: gateway-script
version: 1
keys:
  - { key: os.environ/PARLEY_GATEWAY_KEY, name: opencode, models: [acme/coder-1] }
models:
  acme/coder-1: { input: '1.2375', output: '4.9625' }
scripts:
  - name: title
    when: { contains: Generate a title }
    turns: [{ say: A module entry, usage: { prompt: 301, completion: 7 } }]
  - name: esm
    when: { contains: Add an ES module entry to this package }
    turns:
      - say: I look at what is there.
        tool: bash
        arguments: { command: 'git log --oneline -1 && ls', description: Looks around }
        usage: { prompt: 1873, completion: 53 }
      - tool: todowrite
        arguments: { todos: [{ content: Write the entry, status: in_progress, priority: high, id: '1' }] }
        usage: { prompt: 2477, completion: 79 }
      - tool: write
        arguments: { filePath: index.mjs, content: { file: written/ms/index.mjs.txt } }
        usage: { prompt: 4231, completion: 331 }
      - tool: read
        arguments: { filePath: package.json }
        usage: { prompt: 4399, completion: 31 }
      - tool: edit
        arguments:
          filePath: package.json
          oldString: |2
              "main": "./index",
              "files": [
                "index.js"
              ],
          newString: { file: written/ms/package-entries.txt }
        usage: { prompt: 4637, completion: 113 }
      - tool: bash
        arguments: { command: node --test test/esm.test.mjs, description: Runs the check }
        usage: { prompt: 4993, completion: 29 }
      - say: The package has an entry for modules now, and its test passes.
        usage: { prompt: 5347, completion: 71 }
`;

const FOLDER = opencodeFolder(process.env) ?? '';

function job(confirmation = 'never'): string {
  return `kind: job
version: 1
name: opencode
defaults: { branch: main, model: coder }
conversations:
  - id: esm-entry
    repo: npm/ms
    agent: { use: opencode, version: ${OPENCODE_VERSION} }
    confirmation: ${confirmation}
    prompt: Add an ES module entry to this package.
    verify: { command: node --test test/esm.test.mjs, timeout: 2m }
wait: { deadline: 1h, no_progress: 30m }
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

async function prepared(confirmation?: string): Promise<Prepared> {
  const copy = copyBatch(missing('bwrap') === null ? 'namespaces' : 'none');
  onTestFinished(() => copy.close());
  writeFileSync(path.join(copy.example, 'gateway.yaml'), GATEWAY);
  writeFileSync(path.join(copy.example, 'job.yaml'), job(confirmation));
  const gateway = await openGateway(copy);
  onTestFinished(() => gateway.stop());
  return { copy, gateway };
}

/** As a user installs one that did not come from npm: what the cache has was installed from there by the same command. */
async function install(copy: BatchCopy): Promise<void> {
  const { code, stderr } = await runProgram(copy, 'bin/parley.js', [
    'agent',
    'add',
    'opencode',
    '--from',
    FOLDER,
  ]);
  expect(code, stderr).toBe(0);
}

async function isRight({ copy }: Prepared, { isWhole }: { readonly isWhole: boolean }): Promise<void> {
  const status = await runStatus(copy, RUN_ID);
  expect(status?.items).toMatchObject([{ outcome: 'succeeded', execution_status: 'FINISHED' }]);
  const results = new Results(copy, RUN_ID);
  expect(results.patch('esm-entry')).toContain('index.mjs');
  const sums = results.sums();
  expect(sums.total).toBe(sumOf(ledgerRows(copy)));
  // A call whose reply the kill took away is billed, and nobody here knows whose it was.
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

describeWith('acp-agents', 'OpenCode as the agent', () => {
  it(
    'does a task of the first batch to a patch that passes its check, and its bill is the proxy account to the nano-dollar',
    async () => {
      const place = await prepared();
      const { copy, gateway } = place;
      const absent = await runProgram(copy, 'bin/parley.js', ['run', 'job.yaml'], gateway.env);
      expect(absent.code).toBe(2);
      expect(absent.stderr).toContain(`install it: parley agent add opencode@${OPENCODE_VERSION}`);
      await install(copy);
      const plan = await runProgram(copy, 'bin/parley.js', ['plan', 'job.yaml'], gateway.env);
      expect(plan.stdout).toContain(`installed: opencode ${OPENCODE_VERSION}`);
      const program = startProgram(
        copy,
        'bin/parley.js',
        ['run', 'job.yaml', '--run-id', RUN_ID],
        gateway.env,
      );
      const { code, stderr } = await program.ended;
      expect(code, stderr).toBe(0);
      await isRight(place, { isWhole: true });
      const events = await new Results(copy, RUN_ID).events('esm-entry');
      const actions = events.flatMap(({ body }) => (body['kind'] === 'ActionEvent' ? [body] : []));
      // Its list of tasks is a tool among others: it tells no plan.
      expect(actions.map((body) => body['tool_name'])).toEqual(
        expect.arrayContaining(['terminal', 'other', 'edit', 'read']),
      );
      const removed = await runProgram(copy, 'bin/parley.js', ['agent', 'remove', 'opencode']);
      expect(removed.code, removed.stderr).toBe(0);
      expect(existsSync(path.join(copy.dataDir, 'agents', 'opencode'))).toBe(false);
      const said = JSON.stringify(events);
      expect(said).toContain('its test passes');
      expect(said).not.toContain(gateway.env['PARLEY_GATEWAY_KEY']);
      expect(said).not.toContain(gateway.env['PARLEY_GATEWAY_URL']);
    },
    MS_MAX,
  );

  it(
    'is killed with the whole run in the middle, and goes on when the run is resumed',
    async () => {
      const place = await prepared();
      const { copy, gateway } = place;
      await install(copy);
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
});

/** As an operator does: the agent is installed, put into an image, and the deployment names that by its digest. */
async function installInImage(copy: BatchCopy): Promise<void> {
  await install(copy);
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

describeWith('acp-agents', 'OpenCode in an image', () => {
  describeWith('dockerd', 'as the agent in containers', () => {
    afterAll(closeDaemon);

    it(
      'does a task of the first batch, killed with the whole run in the middle and resumed',
      async () => {
        const place = await prepared();
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
        const said = JSON.stringify(await new Results(copy, RUN_ID).events('esm-entry'));
        expect(said).not.toContain(gateway.env['PARLEY_GATEWAY_KEY']);
        expect(said).not.toContain(gateway.env['PARLEY_GATEWAY_URL']);
      },
      MS_MAX,
    );
  });
});
