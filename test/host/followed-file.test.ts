/** Which hosts read their file, and the note by which a desk in another process knows how the owner stands. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { loadDeployment } from '../../host/config/load-deployment.ts';
import { readConfigurationNote, writeConfigurationNote } from '../../host/follow/configuration-note.ts';
import type { HostOptions } from '../../host/host-port.ts';
import { Closers } from '../../host/closers.ts';
import { openFollowedFile } from '../../host/follow/followed-file.ts';
import { placesOf } from '../../host/sandboxes/places.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const SERVED: HostOptions['application'] = {
  ...{ host: '127.0.0.1', port: 0, dialect: 'spec', corsOrigins: [], publicUrl: null, version: '0.0.0' },
  onAccess: () => undefined,
};
const OLD = { file: '/srv/parley.yaml', revision: 'old', refused: [], needsRestart: [] };

async function opened(options: Partial<HostOptions>) {
  const cwd = tempDir();
  const file = path.join(cwd, 'parley.yaml');
  writeFileSync(file, 'limits: { idle_time: 600 }\n');
  const { config } = await loadDeployment({ path: file, cwd, env: {} });
  if (config === null) throw new Error('the configuration of this test has errors');
  const [places, closers, notices] = [placesOf(cwd), new Closers(), [] as string[]];
  // Of an owner that was killed.
  writeConfigurationNote(places, OLD);
  const followed = openFollowedFile({
    ...{ config, env: {}, closers, places },
    options: { onNotice: (text) => void notices.push(text), ...options },
    proxy: { reload: () => undefined, reloadRefused: () => undefined },
  });
  return { config, file, places, closers, notices, followed };
}

it.each([
  ['a worker', { isWorker: true }],
  ['a service', { application: SERVED }],
])(
  'is looked at by %s, which says in its data directory how it stands until it ends',
  async (_who, options) => {
    const { config, file, places, closers, notices, followed } = await opened(options);
    const { revision } = config.reading;
    expect(readConfigurationNote(places)).toEqual({ file, revision, refused: [], needsRestart: [] });
    writeFileSync(file, 'limits: { idle_time: 900 }\nresults: { path: elsewhere }\n');
    await followed.poll();
    expect(notices).toEqual([
      'the changed configuration holds from now on: limits.idle_time',
      'these hold after the next start: results.path',
    ]);
    expect(readConfigurationNote(places)).toMatchObject({ needsRestart: ['results.path'] });
    await closers.run();
    expect(readConfigurationNote(places)).toBeNull();
  },
);

it('is not looked at by a command that carries out one run, and no earlier note speaks for it', async () => {
  const { places, closers } = await opened({});
  expect(readConfigurationNote(places)).toBeNull();
  await closers.run();
});
