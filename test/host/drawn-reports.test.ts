/** Reports that are drawn by a process that may only read a store: with its seal key, or not at all. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runId } from '../../core/ids.ts';
import { loadDeployment } from '../../host/config/load-deployment.ts';
import { openDeployedStore } from '../../host/follow/config-store.ts';
import { openReader } from '../../host/owner/reader.ts';
import { loadSealKey } from '../../store/access/seal-key.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { demoPlan, RUN } from '../cli/rows.ts';

async function setUp() {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: data }\n');
  const { config } = await loadDeployment({ path: null, cwd, env: {} });
  if (config === null) throw new Error('Cannot test: the configuration has errors');
  const store = await openDeployedStore(config);
  await store.plans.putPlan(runId(RUN), demoPlan());
  await store.close();
  const reader = await openReader(config);
  if (reader?.draw === undefined) throw new Error('Cannot test: nothing draws');
  return { draw: reader.draw.bind(reader), reader, keyFile: path.join(config.dataDir, 'seal.key') };
}

it('are refused where the seal key is missing, and no key is made', async () => {
  const { draw, reader, keyFile } = await setUp();
  await expect(draw(runId(RUN), 'github')).rejects.toMatchObject({ code: 'config_invalid' });
  expect(existsSync(keyFile)).toBe(false);
  await reader.close();
});

it('are refused for a run that is not there', async () => {
  const { draw, reader, keyFile } = await setUp();
  loadSealKey({ env: undefined, path: keyFile });
  await expect(draw(runId('nobody'), 'slack')).rejects.toMatchObject({ code: 'not_found' });
  await reader.close();
});
