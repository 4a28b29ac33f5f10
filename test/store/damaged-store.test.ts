/** A database file that holds what is no database: said in clear, with what to do, and not to be tried again. */
import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openStore } from '../../store/open-store.ts';
import { conversationNumber, NOW } from '../contract/store-rows.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const DAMAGED = { code: 'store_damaged', retry: false, remedy: expect.stringContaining('bring back a copy') };

it('tells a file that is no database', async () => {
  const file = path.join(tempDir(), 'parley.db');
  writeFileSync(file, Buffer.alloc(8_192, 'x'), { mode: 0o600 });
  await expect(openStore({ kind: 'sqlite', path: file })).rejects.toMatchObject(DAMAGED);
});

it('tells pages of garbage, when it is opened or when they are read', async () => {
  const file = path.join(tempDir(), 'parley.db');
  const store = await openStore({ kind: 'sqlite', path: file });
  const id = conversationNumber(1);
  for (let round = 0; round < 20; round += 1) {
    const events = Array.from({ length: 20 }, (_, at) => ({
      id: `${round}-${at}`,
      timestamp: 't',
      kind: 'K',
      text: 'x'.repeat(2_000),
    }));
    await store.events.append(id, events, NOW);
  }
  await store.close();
  const fd = openSync(file, 'r+');
  for (let at = 16_384; at < statSync(file).size; at += 4_096)
    writeSync(fd, Buffer.alloc(2_048, 0xa5), 0, 2_048, at);
  closeSync(fd);
  const read = async (): Promise<unknown> => {
    const damaged = await openStore({ kind: 'sqlite', path: file });
    try {
      return await damaged.events.events(id, { afterSequence: 0, limit: 1_000 });
    } finally {
      await damaged.close().catch(() => undefined);
    }
  };
  await expect(read()).rejects.toMatchObject(DAMAGED);
});
