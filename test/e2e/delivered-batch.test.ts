/**
 * Branches pushed to real bare repositories by a real batch: one process is killed after its push and before it has
 * written that down, and the run is resumed; one branch is another user's for a time. A receiver that is away at
 * first is notified of the end.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProgramEnd } from './running-program.ts';
import { CUT_CALLS, openUpgradeBatch, recordsIn, type UpgradeBatch } from './upgrade-batch.ts';

const RUN_ID = 'delivered';
const ALL_MS_MAX = 600_000;
/** Its repository takes a push and then says nothing until the test lets it. */
const SLOW = 'acme/service-001';
/** Its branch exists before, with a commit of another user. */
const TAKEN = 'acme/service-002';
const PLAIN = 'acme/service-003';
const KEYS = [SLOW, TAKEN, PLAIN];

const branchOf = (key: string): string => `parley/${RUN_ID}/${key}`;

describe('a batch that delivers branches', () => {
  let batch: UpgradeBatch;
  let receiver: Receiver;
  let killed: ProgramEnd;
  let evidenceWhenKilled: string;
  let done: ProgramEnd;
  let status: ProgramEnd;
  let foreign: string;
  let tips: Readonly<Record<string, string>>;
  let collected: ProgramEnd;

  const repositoryOf = (key: string): string => path.join(batch.copy.dataDir, 'repos', `${key}.git`);
  const git = (key: string, ...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: repositoryOf(key), encoding: 'utf8', env: GIT_ENVIRONMENT }).trim();
  const tipOf = (key: string): string => git(key, 'rev-parse', `refs/heads/${branchOf(key)}`);
  const evidence = (key: string): { readonly state: string; readonly commits: readonly string[] } =>
    JSON.parse(evidenceText(key)) as ReturnType<typeof evidence>;
  const evidenceText = (key: string): string =>
    readFileSync(path.join(batch.copy.resultsDir, RUN_ID, key, 'delivery.json'), 'utf8');
  const pushesOf = (key: string): readonly string[] => {
    const log = path.join(repositoryOf(key), 'pushes.log');
    return existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
  };

  beforeAll(async () => {
    receiver = await startReceiver();
    batch = await openUpgradeBatch({
      repositories: KEYS.length,
      edits: [
        [
          'job.yaml',
          'cleanup: {',
          "deliver: { branch: 'parley/{run}/{key}', message: 'Upgrade ({run})' }\ncleanup: {",
        ],
        ['job.yaml', 'report:\n', `finally: [{ notify: ${receiver.url} }]\nreport:\n`],
        CUT_CALLS,
      ],
    });
    for (const key of KEYS) hook(repositoryOf(key), { waits: key === SLOW });
    git(TAKEN, 'update-ref', `refs/heads/${branchOf(TAKEN)}`, foreignCommit(git));
    foreign = tipOf(TAKEN);

    const program = batch.start(['run', 'job.yaml', '--plain', '--run-id', RUN_ID, '--limit', '3']);
    // The host has accepted the push; the worker still waits for its final answer.
    while (pushesOf(SLOW).length === 0) {
      await pause(20);
      if ((await Promise.race([program.ended, null])) !== null)
        throw new Error(`the run ended: ${(await program.ended).stderr}`);
    }
    program.kill();
    killed = await program.ended;
    evidenceWhenKilled = evidence(SLOW).state;
    writeFileSync(path.join(repositoryOf(SLOW), 'go'), '');
    done = await batch.run(['resume', RUN_ID, '--json']);
    status = await batch.run(['status', RUN_ID]);
    tips = Object.fromEntries(KEYS.map((key) => [key, tipOf(key)]));
    git(TAKEN, 'update-ref', '-d', `refs/heads/${branchOf(TAKEN)}`);
    collected = await batch.run(['collect', RUN_ID]);
  }, ALL_MS_MAX);
  afterAll(async () => {
    receiver.close();
    await batch.close();
  });

  it('is killed between the push and its record, and pushes nothing twice after that', () => {
    expect(killed.code).toBeNull();
    expect(evidenceWhenKilled).toBe('pushing');
    expect(evidence(SLOW)).toMatchObject({ state: 'pushed', commits: [tips[SLOW]] });
    expect(pushesOf(SLOW)).toHaveLength(1);
    expect(pushesOf(PLAIN)).toHaveLength(1);
  });

  it('pushes one commit of the author on the base, which holds exactly what was collected', () => {
    for (const key of [SLOW, PLAIN]) {
      const said = git(key, 'log', '--format=%an <%ae> %s', `main..${branchOf(key)}`);
      expect(said).toBe(`Coding Agent <agent@example.com> Upgrade (${RUN_ID})`);
      const patch = readFileSync(path.join(batch.copy.resultsDir, RUN_ID, key, 'changes.patch'), 'utf8');
      const diff = git(key, 'diff', '--full-index', '--binary', `main..${branchOf(key)}`);
      expect(diff).toBe(patch.trim());
    }
  });

  it('leaves the branch of somebody else alone, and the run succeeds with everything collected', () => {
    expect(tips[TAKEN]).toBe(foreign);
    expect(done.code, done.stderr).toBe(0);
    expect(recordsIn(done.stdout).at(-1)).toMatchObject({
      ended: { succeeded: 3 },
      branches: { pushed: 2, nothing: 0, failed: 1 },
    });
    expect(existsSync(path.join(batch.copy.resultsDir, RUN_ID, TAKEN, 'changes.patch'))).toBe(true);
    expect(status.stdout).toContain('branches: 2 pushed, 0 without a change, 1 not pushed');
    expect(status.stdout).toContain(`holds the commit ${foreign.slice(0, 12)} that this run has not made`);
  });

  it('tells of the end under one id, again when nobody took it, and never of what was killed', () => {
    expect(receiver.told.map(({ id }) => id)).toEqual([receiver.told[0]?.id, receiver.told[0]?.id]);
    expect(JSON.parse(receiver.told[1]?.body ?? '')).toMatchObject({
      type: 'run.ended',
      run: RUN_ID,
      status: 'succeeded',
      total: 3,
      ended: { succeeded: 3 },
    });
    expect(status.stdout).toContain('finally_done: notify 1: sent');
  });

  it('has the branches and who was told in its report', () => {
    const report = readFileSync(path.join(batch.copy.resultsDir, RUN_ID, 'report.md'), 'utf8');
    expect(report).toContain('2 pushed, 0 without a change, 1 not pushed');
    expect(report).toContain(
      `| ${PLAIN} | pushed | ${PLAIN} | ${branchOf(PLAIN)} | ${tips[PLAIN]?.slice(0, 12)} |`,
    );
    expect(report).toMatch(/^\| notify 1 \| told \|/m);
  });

  it('pushes what is missing with "parley collect", without the sandbox', () => {
    expect(collected.code, collected.stderr).toBe(0);
    expect(collected.stdout).toContain(`${TAKEN}/delivery.json`);
    expect(evidence(TAKEN)).toMatchObject({ state: 'pushed', commits: [tipOf(TAKEN)] });
    expect(tipOf(TAKEN)).not.toBe(foreign);
  });
});

const GIT_ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  ...Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'Somebody'],
      [`GIT_${who}_EMAIL`, 'somebody@example.com'],
    ]),
  ),
};

function foreignCommit(git: (key: string, ...args: readonly string[]) => string): string {
  return git(TAKEN, 'commit-tree', 'main^{tree}', '-p', 'main', '-m', 'Mine');
}

/** Writes down every push; one that waits does so after it has taken it. */
function hook(repository: string, { waits }: { readonly waits: boolean }): void {
  const file = path.join(repository, 'hooks/post-receive');
  mkdirSync(path.dirname(file), { recursive: true });
  const wait = waits ? 'while [ ! -e go ]; do sleep 0.05; done\n' : '';
  writeFileSync(file, `#!/bin/sh\ncat >> pushes.log\n${wait}`);
  chmodSync(file, 0o755);
}

interface Receiver {
  readonly url: string;
  /** In the order in which they came. */
  readonly told: readonly { readonly id: string; readonly body: string }[];
  close(): void;
}

/** It is away at the first notification. */
async function startReceiver(): Promise<Receiver> {
  const told: { id: string; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      told.push({ id: String(request.headers['webhook-id']), body });
      response.writeHead(told.length === 1 ? 503 : 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/ended`, told, close: () => void server.close() };
}
