/** `parley temporal restored`: says what it would forget, forgets it with --yes, and never beside an owner. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { lockDataDirectory } from '../../store/engine/data-directory-lock.ts';
import { openStore } from '../../store/open-store.ts';
import { fakeShell, recordsOf } from '../cli/fake-shell.ts';
import { batch, conversationNumber, sandboxNumber } from '../contract/store-rows.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const SANDBOX = { machine: 'sandbox', id: sandboxNumber(1) } as const;
const CONVERSATION = { machine: 'conversation', id: conversationNumber(1) } as const;

async function deployment() {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  const withStore = async <Value>(use: (store: Awaited<ReturnType<typeof openStore>>) => Promise<Value>) => {
    const store = await openStore({ kind: 'sqlite', path: path.join(cwd, 'parley.db') });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  };
  await withStore(async ({ engine }) => {
    for (const number of [1, 2])
      await engine.commitJournaled({ entity: SANDBOX, number, settled: 0, inputs: [number] }, batch({}));
    await engine.commitJournaled({ entity: CONVERSATION, number: 9, settled: 8, inputs: [] }, batch({}));
  });
  const restored = async (...args: readonly string[]) => {
    const shell = fakeShell({ cwd });
    const code = await runCli(['temporal', 'restored', ...args], shell);
    return { code, out: shell.stdout.text, err: shell.stderr.text, shell };
  };
  return { cwd, restored, held: () => withStore(({ journal }) => journal.held(null)) };
}

it('forgets nothing without --yes, and says so by its exit code', async () => {
  const { restored, held } = await deployment();
  const { code, out } = await restored('--all');
  expect({ code, out }).toEqual({
    code: 3,
    out: 'would be forgotten: 3 batches of 2 workflows; add --yes to do it\n',
  });
  expect(await held()).toEqual({ entities: 2, entries: 3 });
});

it('forgets one workflow, then all, each once', async () => {
  const { restored, held } = await deployment();
  expect(await restored(`sandbox/${SANDBOX.id}`, '--yes')).toMatchObject({
    code: 0,
    out: 'forgotten: 2 batches of 1 workflows\n',
  });
  expect(await held()).toEqual({ entities: 1, entries: 1 });
  const { code, shell } = await restored('--all', '--yes', '--json');
  expect(code).toBe(0);
  expect(recordsOf(shell).at(-1)).toMatchObject({
    type: 'journal_emptied',
    forgotten: true,
    entities: 1,
    entries: 1,
  });
  expect((await restored('--all', '--yes')).out).toBe('forgotten: 0 batches of 0 workflows\n');
});

it('changes nothing while another process owns the data directory', async () => {
  const { cwd, restored, held } = await deployment();
  const lock = lockDataDirectory(cwd, { startedAt: 0 });
  try {
    const { code, err } = await restored('--all', '--yes');
    expect(code).toBe(5);
    expect(err).toContain('Cannot use the data directory');
  } finally {
    lock.release();
  }
  expect(await held()).toEqual({ entities: 2, entries: 3 });
  expect((await restored('--all', '--yes')).code).toBe(0);
});

it.each([
  { args: [], says: 'name either a workflow or --all' },
  { args: ['conversation/x', '--all'], says: 'name either a workflow or --all' },
  { args: ['scheduledRun/x', '--yes'], says: 'it is no workflow of an entity' },
  { args: ['conversation/', '--yes'], says: 'it is no workflow of an entity' },
])('refuses $args', async ({ args, says }) => {
  const { restored } = await deployment();
  const { code, err } = await restored(...args);
  expect(code).toBe(2);
  expect(err).toContain(says);
});

it('says where there is no store', async () => {
  const shell = fakeShell({ cwd: tempDir() });
  writeFileSync(path.join(shell.cwd, 'parley.yaml'), 'store: { path: . }\n');
  expect(await runCli(['temporal', 'restored', '--all'], shell)).toBe(2);
  expect(shell.stderr.text).toContain('there is no store');
});
