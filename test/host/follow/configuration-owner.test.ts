/** A desk beside the process that carries sandboxes out: what it says of a text that holds there, does not, or cannot. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { loadDeployment } from '../../../host/config/load-deployment.ts';
import type { Problem } from '../../../host/config/problem.ts';
import {
  readConfigurationNote,
  removeConfigurationNote,
  writeConfigurationNote,
} from '../../../host/follow/configuration-note.ts';
import { configurationOwner } from '../../../host/follow/configuration-owner.ts';
import { FollowedConfiguration, type Standing } from '../../../host/follow/followed-configuration.ts';
import { openConfigurationDesk } from '../../../host/serve/configuration-desk.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const TEXT = 'limits: { idle_time: 600 }\n';
const NEXT = 'limits: { idle_time: 900 }\nengine: { events_max: 500 }\n';
const UNSET: Problem = {
  ...{ severity: 'error', area: 'proxy', file: '/srv/parley.yaml', line: 3, column: 7 },
  ...{ message: 'environment variable "KEY" is not set', remedy: 'set KEY' },
};

const standing = (change: Partial<Standing>): Standing => ({
  ...{ file: '/srv/parley.yaml', revision: '', refused: [], needsRestart: [] },
  ...change,
});

/** What is answered to a change, when the owner says this of the text that was written. */
async function answerBeside(ownerOf: (revision: string) => Standing | null) {
  const cwd = tempDir();
  const file = path.join(cwd, 'parley.yaml');
  writeFileSync(file, TEXT);
  const { config } = await loadDeployment({ path: file, cwd, env: {} });
  if (config === null) throw new Error('the configuration of this test has errors');
  const followed = new FollowedConfiguration({
    ...{ config, cwd, env: {} },
    proxy: { reload: () => undefined, reloadRefused: () => undefined },
    onNews: () => undefined,
  });
  const there = (): Standing | null => ownerOf(followed.standing.revision);
  const owner = {
    standing: there,
    takesUp: (revision: string) =>
      Promise.resolve(there()?.revision === revision && there()?.refused.length === 0),
  };
  const desk = openConfigurationDesk({ followed, owner });
  const { revision } = await desk.state();
  const outcome = await desk.change(revision, { kind: 'text', text: NEXT });
  if (outcome.kind !== 'deployed') throw new Error(`it was ${outcome.kind}`);
  expect(config.deployment.limits.idleTimeMs).toBe(900_000);
  const { state, applied } = outcome;
  const { needs_restart: needsRestart, warnings } = await desk.state();
  expect([needsRestart, warnings]).toEqual([state.needs_restart, state.warnings]);
  return { applied, needsRestart, warnings };
}

it('says that what the owner has taken up holds, and what waits for a restart of either', async () => {
  const answer = await answerBeside((revision) => standing({ revision, needsRestart: ['proxy.port'] }));
  expect(answer).toEqual({
    applied: ['limits.idle_time'],
    needsRestart: ['engine.events_max', 'proxy.port'],
    warnings: [],
  });
});

it('says which file the owner follows, when that does not get the text', async () => {
  expect(await answerBeside(() => standing({ revision: 'another' }))).toEqual({
    applied: [],
    needsRestart: ['engine.events_max'],
    warnings: [
      'The process that owns the data directory has not taken this text up: it follows "/srv/parley.yaml"',
    ],
  });
});

it('says why the owner refuses what is right here', async () => {
  expect(await answerBeside((revision) => standing({ revision, refused: [UNSET] }))).toMatchObject({
    applied: [],
    warnings: [
      'The process that owns the data directory keeps the earlier configuration: /srv/parley.yaml:3:7: environment variable "KEY" is not set: set KEY',
    ],
  });
});

it('says that all of it waits for a restart of an owner that follows no file', async () => {
  expect(await answerBeside(() => null)).toEqual({
    applied: [],
    needsRestart: ['engine.events_max', 'limits.idle_time'],
    warnings: [expect.stringContaining('follows no file')],
  });
});

it('waits until the owner has looked, and for nobody who follows nothing', async () => {
  const seen = [standing({ revision: 'old' }), standing({ revision: 'old' }), standing({ revision: 'new' })];
  expect(await configurationOwner(() => seen.shift() ?? null).takesUp('new')).toBe(true);
  const refusing = configurationOwner(() => standing({ revision: 'new', refused: [UNSET] }));
  expect(await refusing.takesUp('new')).toBe(false);
  expect(await configurationOwner(() => null).takesUp('new')).toBe(false);
});

it('reads in the data directory how the owner stands; a note that is none says nothing', () => {
  const place = { configurationNote: path.join(tempDir(), 'configuration.json') };
  expect(readConfigurationNote(place)).toBeNull();
  const told = standing({ revision: 'new', refused: [UNSET], needsRestart: ['proxy.port'] });
  writeConfigurationNote(place, told);
  expect(readConfigurationNote(place)).toEqual(told);
  removeConfigurationNote(place);
  expect(readConfigurationNote(place)).toBeNull();
  writeFileSync(place.configurationNote, '{"file": 1}');
  expect(readConfigurationNote(place)).toBeNull();
});
