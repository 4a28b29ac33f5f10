/** collectItem: what is kept of an attempt, from a sandbox that is up, released or gone. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromBuffer, type Entry, type ZipFile } from 'yauzl';
import { secretScope } from '../../activities/redaction.ts';
import { nanoUsd } from '../../core/money/money.ts';
import type { CollectStep } from '../../core/plan/plan.ts';
import { EMPTY_TREE } from '../../core/commit-id.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { spendRow } from '../contract/store-rows.ts';
import { T0 } from '../engine/movable-clock.ts';
import {
  activityWorld,
  answerOf,
  attempt,
  COLLECT_ORDER as ORDER,
  CONVERSATION,
  inSandbox,
  RUN,
  SANDBOX,
  type ActivityWorld,
} from './activity-world.ts';
import { agentEvent } from './fake-agent.ts';
import { planWith } from './plan-rows.ts';

const SECRET = 'hunter2/hunter2';

async function collecting(...collect: readonly CollectStep[]): Promise<ActivityWorld> {
  const around = await activityWorld();
  await inSandbox(around);
  await around.world.workspaces.putFacts(CONVERSATION, {
    workingDir: around.workspaceDir,
    baseCommit: 'c0ffee',
  });
  await around.world.plans.putPlan(RUN, planWith({}, { collect }));
  await around.world.vault.put(secretScope(CONVERSATION), 'TOKEN', SECRET);
  return around;
}

const results = ({ resultsDir }: ActivityWorld): readonly string[] => {
  const dir = path.join(resultsDir, RUN, 'one');
  if (!existsSync(dir)) return [];
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return entries.map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name))).sort();
};
const result = ({ resultsDir }: ActivityWorld, name: string): Buffer =>
  readFileSync(path.join(resultsDir, RUN, 'one', name));

/** Name and text of every entry, in the order of the archive. */
async function unzipped(archive: Buffer): Promise<readonly (readonly [string, string])[]> {
  const zip = await new Promise<ZipFile>((resolve, reject) =>
    fromBuffer(archive, { lazyEntries: true }, (error, file) =>
      error === null ? resolve(file) : reject(error),
    ),
  );
  const entries: [string, string][] = [];
  for (zip.readEntry(); entries.length < zip.entryCount; zip.readEntry()) {
    const entry = await new Promise<Entry>((resolve) => zip.once('entry', resolve));
    const chunks: Buffer[] = [];
    const stream = await new Promise<NodeJS.ReadableStream>((resolve, reject) =>
      zip.openReadStream(entry, (error, read) => (error === null ? resolve(read) : reject(error))),
    );
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    entries.push([entry.fileName, Buffer.concat(chunks).toString()]);
  }
  return entries;
}

describe('collectItem: trajectory', () => {
  it('reads the last events and packs record and events in order, the same bytes for the same events', async () => {
    const around = await collecting({ kind: 'trajectory' });
    around.agent.pages = [
      [agentEvent('e-1'), agentEvent('e/2', { text: `uses ${SECRET}` })],
      [agentEvent('e-3')],
    ];
    expect(await answerOf(around, ORDER)).toEqual({
      type: 'itemCollected',
      commandId: ORDER.id,
      index: 0,
      costNanoUsd: 0,
    });
    const first = result(around, 'trajectory.zip');
    const entries = await unzipped(first);
    expect(entries.map(([name]) => name)).toEqual([
      'meta.json',
      'event_000001_e-1.json',
      'event_000002_e_2.json',
      'event_000003_e-3.json',
    ]);
    expect(JSON.parse(entries[0]?.[1] ?? '')).toMatchObject({
      conversationId: CONVERSATION,
      executionStatus: 'FINISHED',
      lifecycle: [],
    });
    expect(JSON.parse(entries[2]?.[1] ?? '')).toEqual({ ...agentEvent('e/2'), text: 'uses <secret-hidden>' });
    await answerOf(around, ORDER);
    expect(result(around, 'trajectory.zip').equals(first)).toBe(true);
  });

  it('is kept where the conversation says so itself, whatever the job keeps', async () => {
    const around = await activityWorld();
    await inSandbox(around);
    const own = planWith({ collect: [{ kind: 'usage' }] }, { collect: [{ kind: 'trajectory' }] });
    await around.world.plans.putPlan(RUN, own);
    await answerOf(around, ORDER);
    expect(results(around)).toEqual(['usage.json']);
  });

  it('holds every event over many pages', async () => {
    const around = await collecting({ kind: 'trajectory' });
    around.agent.pages = [Array.from({ length: 2_345 }, (_, index) => agentEvent(`e${index}`))];
    await answerOf(around, ORDER);
    const names = (await unzipped(result(around, 'trajectory.zip'))).map(([name]) => name);
    expect([names.length, names.at(-1)]).toEqual([2_346, 'event_002345_e2344.json']);
  });

  it('works with the sandbox gone, and says how that was found', async () => {
    const around = await collecting(
      { kind: 'trajectory' },
      { kind: 'diff' },
      { kind: 'files', globs: ['*'] },
    );
    await around.world.events.append(CONVERSATION, [agentEvent('e1')], T0);
    const told = { type: 'itemCollected', commandId: ORDER.id, index: 0, costNanoUsd: 0 };
    expect(await answerOf(around, { ...ORDER, workspaceReadable: false })).toEqual({
      ...told,
      lost: { status: 'RUNNING', detail: null },
    });
    expect(await answerOf(around, { ...ORDER, sandboxId: null })).toEqual(told);
    await inSandbox(around, { sandbox: { status: 'MISSING', detail: 'host_lost', sequence: 2 } });
    expect(await answerOf(around, ORDER)).toEqual({
      ...told,
      lost: { status: 'MISSING', detail: 'host_lost' },
    });
    expect([results(around), around.agent.calls]).toEqual([['trajectory.zip'], []]);
  });

  it.each([{ kind: 'diff' }, { kind: 'files', globs: ['*'] }] as const)(
    'misses the sandbox only for what is nowhere else: $kind',
    async (step) => {
      const apart = await collecting({ kind: 'trajectory' }, { kind: 'usage' });
      const within = await collecting({ kind: 'usage' }, step);
      for (const around of [apart, within])
        await inSandbox(around, { sandbox: { status: 'ERROR', detail: 'oom', sequence: 2 } });
      expect(await answerOf(apart, ORDER)).not.toHaveProperty('lost');
      expect(await answerOf(within, ORDER)).toHaveProperty('lost', { status: 'ERROR', detail: 'oom' });
    },
  );

  it('is no empty archive of a conversation that was deleted', async () => {
    const around = await collecting({ kind: 'trajectory' });
    await around.world.records.removeConversation(CONVERSATION);
    expect(await attempt(around, ORDER)).toMatchObject({
      type: 'collectFailed',
      reason: expect.stringContaining('conversation_deleted'),
      costNanoUsd: 0,
    });
    expect(results(around)).toEqual([]);
  });
});

describe('collectItem: diff and usage', () => {
  it('keeps the patch and the commit it applies to', async () => {
    const around = await collecting({ kind: 'diff' });
    around.agent.patchText = 'diff --git a/a b/a\n';
    await answerOf(around, ORDER);
    expect(around.agent.calls.find(({ name }) => name === 'patch')?.about).toEqual({
      path: around.workspaceDir,
      baseCommit: 'c0ffee',
    });
    expect([
      result(around, 'changes.patch').toString(),
      result(around, 'base-commit.txt').toString(),
    ]).toEqual(['diff --git a/a b/a\n', 'c0ffee\n']);
  });

  it('keeps every spend row with exact sums, and answers with the cost', async () => {
    const around = await collecting({ kind: 'usage' });
    const rows = Array.from({ length: 1_001 }, (_, index) =>
      spendRow(`call-${index}`, { sessionId: CONVERSATION, cost: nanoUsd(3) }),
    );
    await around.world.spend.write([
      ...rows,
      spendRow('call-free', { sessionId: CONVERSATION, cost: null }),
      spendRow('other'),
    ]);
    expect(await answerOf(around, ORDER)).toMatchObject({ costNanoUsd: 3_003 });
    const usage = JSON.parse(result(around, 'usage.json').toString()) as unknown;
    expect(usage).toMatchObject({ calls: 1_002, unpriced: 1, costUsd: '0.000003003' });
  });
});

describe('collectItem: secrets and failures', () => {
  it.each([
    ['raw', SECRET],
    ['base64', Buffer.from(SECRET).toString('base64')],
  ])('leaves out and records a result that holds a secret: %s', async (_, form) => {
    const around = await collecting({ kind: 'diff' });
    around.agent.patchText = `+key=${form}\n`;
    expect(await answerOf(around, ORDER)).toMatchObject({
      type: 'itemCollected',
      withheld: 'withheld for a secret: "changes.patch"',
    });
    expect(results(around)).toEqual(['base-commit.txt', 'findings.json']);
    const [recorded] = await around.world.lifecycle.lifecycleEvents(CONVERSATION);
    expect(recorded).toMatchObject({
      code: 'secret_in_result',
      detail: expect.stringContaining('changes.patch'),
    });
  });

  it('finds a secret that packing would hide', async () => {
    const around = await collecting({ kind: 'trajectory' });
    await around.world.events.append(CONVERSATION, [agentEvent('e1', { text: SECRET })], T0);
    await answerOf(around, ORDER);
    expect(results(around)).toEqual(['findings.json']);
  });

  it('asks for a released sandbox once per minute, and is tried again meanwhile', async () => {
    const around = await collecting({ kind: 'diff' });
    await inSandbox(around, { sandbox: { status: 'PAUSED', releasedAt: T0, sequence: 2 } });
    for (const waitMs of [0, 1_000, 60_000]) {
      await around.clock.move(waitMs);
      await expect(attempt(around, ORDER)).rejects.toMatchObject({ code: 'sandbox_resuming', retry: true });
    }
    const requests = around.told.map(({ event }) => (event as { readonly requestId: string }).requestId);
    expect([new Set(requests).size, around.told[0]]).toEqual([
      2,
      expect.objectContaining({ to: { machine: 'conversation', id: CONVERSATION } }),
    ]);
  });

  it('fails with collect_failed when the agent cannot be reached, and says so in the end', async () => {
    const around = await collecting({ kind: 'diff' });
    around.runtime.presences.set(SANDBOX, { kind: 'unknown', reason: 'timeout' });
    await expect(attempt(around, ORDER)).rejects.toMatchObject({ code: 'collect_failed', retry: true });
    expect(await answerOf(around, ORDER)).toEqual({
      type: 'collectFailed',
      commandId: ORDER.id,
      index: 0,
      reason: expect.stringMatching(/^collect_failed: /),
    });
  });

  it('fails when the list of files cannot be made', async () => {
    const around = await collecting({ kind: 'files', globs: ['*'] });
    around.agent.execute = () => Promise.resolve({ exitCode: 127, stdout: '', stderr: 'bash: not found' });
    await expect(attempt(around, ORDER)).rejects.toMatchObject({ code: 'collect_failed' });
  });

  it('passes on what the agent answers', async () => {
    const around = await collecting({ kind: 'diff' });
    around.agent.error = new ParleyError('agent_refused', 'Cannot read the events: no');
    expect(await answerOf(around, ORDER)).toMatchObject({
      reason: expect.stringMatching(/^agent_refused: /),
    });
  });
});

describe('collectItem: files', () => {
  async function collected(
    globs: readonly string[],
    make: (dir: string, folder: string) => void,
  ): Promise<readonly string[]> {
    const around = await collecting({ kind: 'files', globs });
    mkdirSync(path.join(around.workspaceDir, 'deep/er'), { recursive: true });
    for (const name of ['a.txt', 'b.md', 'deep/c.txt', 'deep/er/.d.txt', "o'dd $(touch pwned).txt"]) {
      writeFileSync(path.join(around.workspaceDir, name), name);
    }
    make(around.workspaceDir, around.folder);
    expect(await answerOf(around, ORDER)).toMatchObject({ type: 'itemCollected' });
    expect(existsSync(path.join(around.workspaceDir, 'pwned'))).toBe(false);
    return results(around).map((name) => name.replace(/^files\//, ''));
  }
  const nothing = (): void => undefined;

  it.each([
    [['*.txt'], ['a.txt', "o'dd $(touch pwned).txt"]],
    [
      ['**/*.txt', 'a.*'],
      ['a.txt', 'deep/c.txt', 'deep/er/.d.txt', "o'dd $(touch pwned).txt"],
    ],
    [
      ['{a,b}.{txt,md}', 'deep/?.txt'],
      ['a.txt', 'b.md', 'deep/c.txt'],
    ],
    [['deep', 'none/*'], []],
    [["o'dd*"], ["o'dd $(touch pwned).txt"]],
  ])('takes what the globs %j match', async (globs, names) => {
    expect(await collected(globs, nothing)).toEqual(names);
  });

  it.each([
    ['$(touch pwned)'],
    ['*; touch pwned'],
    ['`touch pwned`'],
    ['x\ntouch pwned'],
    ["' ; touch pwned ; '"],
    ['~/*'],
    ['$HOME/*'],
  ])('takes the glob %j as data', async (glob) => {
    expect(await collected([glob], nothing)).toEqual([]);
  });

  it('names what cannot be kept and keeps the rest', async () => {
    const around = await collecting({ kind: 'files', globs: ['*', '**/*'] }, { kind: 'diff' });
    const { workspaceDir: dir } = around;
    mkdirSync(dir, { recursive: true });
    const longest = 'n'.repeat(255);
    for (const name of ['-dash', '"quo\'te"', longest, 'new\nline', 'back\\slash'])
      writeFileSync(path.join(dir, name), 'kept');
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/caf`), Buffer.from([0xe9])]), 'latin');
    symlinkSync('nowhere', path.join(dir, 'dangling'));
    execFileSync('mkfifo', [path.join(dir, 'pipe')]);
    around.agent.patchFindings = ['"nested" is a repository of its own', `"${SECRET}" was left out`];
    expect(await answerOf(around, ORDER)).toMatchObject({ type: 'itemCollected' });
    const files = ['files/"quo\'te"', 'files/-dash', `files/${longest}`];
    expect(results(around)).toEqual(['base-commit.txt', 'changes.patch', ...files, 'findings.json'].sort());
    const { findings } = JSON.parse(result(around, 'findings.json').toString()) as {
      readonly findings: readonly { readonly result: string; readonly says: string }[];
    };
    expect(Object.fromEntries(findings.map((one) => [one.result, one.says]))).toMatchObject({
      'files/dangling': 'left out: it is a link',
      'files/pipe': 'left out: it is a pipe, a socket or a device',
      'files/caf\ufffd': 'left out: its name is no UTF-8',
      'files/new\\u{a}line': expect.stringContaining('left out'),
    });
    expect(findings.at(-1)?.says).toBe('"<secret-hidden>" was left out');
  });

  it('makes no second attempt of a patch that cannot be made', async () => {
    const around = await collecting({ kind: 'files', globs: ['*'] }, { kind: 'diff' });
    mkdirSync(around.workspaceDir, { recursive: true });
    writeFileSync(path.join(around.workspaceDir, 'a.txt'), 'kept');
    around.agent.patch = () => Promise.reject(new ParleyError('agent_refused', 'Cannot find ref "c0ffee"'));
    expect(await answerOf(around, ORDER)).toMatchObject({ type: 'itemCollected' });
    expect(results(around)).toEqual(['base-commit.txt', 'files/a.txt', 'findings.json']);
    expect(result(around, 'findings.json').toString()).toContain('it could not be made');
  });

  it('takes all of a repository that the agent made where none was selected', async () => {
    const around = await collecting({ kind: 'diff' });
    const asked: string[] = [];
    around.agent.patch = (_target, { baseCommit }) => {
      asked.push(baseCommit);
      if (baseCommit === EMPTY_TREE)
        return Promise.resolve({ content: Buffer.from('all'), findings: ['odd'] });
      return Promise.reject(new ParleyError('agent_refused', 'Cannot find ref'));
    };
    expect(await answerOf(around, ORDER)).toMatchObject({ type: 'itemCollected' });
    expect(asked).toHaveLength(2);
    expect(result(around, 'changes.patch').toString()).toBe('all');
    expect(result(around, 'base-commit.txt').toString()).toBe(`${EMPTY_TREE}\n`);
    expect(result(around, 'findings.json').toString()).toContain('odd');
  });

  it('follows no link, neither to a file nor through a folder', async () => {
    const names = await collected(['**', 'out/*', 'in/*', '*/secret'], (dir, folder) => {
      mkdirSync(path.join(folder, 'outside'));
      writeFileSync(path.join(folder, 'outside/secret'), 'not yours');
      symlinkSync(path.join(folder, 'outside/secret'), path.join(dir, 'link'));
      symlinkSync(path.join(folder, 'outside'), path.join(dir, 'out'));
      symlinkSync('/dev/zero', path.join(dir, 'endless'));
    });
    expect(names.filter((name) => /secret|link|endless/.test(name))).toEqual([]);
    expect(names).toContain('a.txt');
  });
});
