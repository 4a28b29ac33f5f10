/** A running process and its file: what is applied, what stays, what is reported, and that nothing is applied twice. */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as afterTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { loadDeployment } from '../../../host/config/load-deployment.ts';
import { openConfigurationDesk } from '../../../host/serve/configuration-desk.ts';
import { followLines } from '../../../host/follow/followed-file.ts';
import {
  FollowedConfiguration,
  type FollowNews,
  type Standing,
} from '../../../host/follow/followed-configuration.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const ENTRY = 'model: openai/acme/coder, api_base: "http://127.0.0.1:9/v1", api_key: os.environ/KEY';
const modelsIn = (word: string, name = 'coder'): string =>
  `proxy_config: { model_list: [{ model_name: ${name}, ${word}_params: { ${ENTRY} } }] }\n`;
const TEXT = `limits: { idle_time: 600 }\n${modelsIn('proxyvendor')}`;

async function following(text: string | null) {
  const cwd = tempDir();
  const env = { KEY: 'k' };
  const file = path.join(cwd, 'parley.yaml');
  const write = (next: string): void => writeFileSync(file, next);
  if (text !== null) write(text);
  const { config } = await loadDeployment({ path: text === null ? null : file, cwd, env });
  if (config === null) throw new Error('the configuration of this test has errors');
  const [told, served, standings] = [[] as FollowNews[], [] as string[], [] as Standing[]];
  const followed = new FollowedConfiguration({
    ...{ config, cwd, env },
    proxy: {
      reload: ({ models }) => void served.push(models.map(({ modelName }) => modelName).join()),
      reloadRefused: () => void served.push('refused'),
    },
    onNews: (news) => void told.push(news),
    onStanding: (standing) => void standings.push(standing),
  });
  onTestFinished(() => followed.close());
  const changed = async (next: string): Promise<readonly string[]> => {
    write(next);
    await followed.poll();
    const news = told.at(-1);
    return news === undefined ? [] : followLines('parley.yaml', news);
  };
  return { followed, file, told, served, standings, write, changed, deployment: config.deployment };
}

it('takes up a changed text once: limits at once, the proxy when its block is another one', async () => {
  const { followed, told, served, changed, deployment } = await following(TEXT);
  await followed.poll();
  expect(told).toEqual([]);
  const lines = await changed(TEXT.replace('600', '900'));
  expect([lines, served]).toEqual([['the changed configuration holds from now on: limits.idle_time'], []]);
  expect(deployment.limits.idleTimeMs).toBe(900_000);
  expect(await changed(`limits: { idle_time: 900 }\n${modelsIn('proxyvendor', 'writer')}`)).toEqual([
    'the changed configuration holds from now on: proxy_config',
  ]);
  await followed.poll();
  expect([told.length, served, followed.proxy.models.map(({ modelName }) => modelName)]).toEqual([
    2,
    ['writer'],
    ['writer'],
  ]);
});

it('says nothing of a comment, and answers whoever asks for a reading', async () => {
  const { followed, told, changed } = await following(TEXT);
  expect(await changed(`${TEXT}# nothing\n`)).toEqual([]);
  await followed.reload();
  expect(told.map(({ kind }) => kind)).toEqual(['taken', 'taken']);
});

it('leaves the earlier one in force for a text with errors, and tells each with place and remedy', async () => {
  const { followed, served, changed, deployment } = await following(TEXT);
  expect(await changed(TEXT.replace('idle_time: 600', 'idle_tim: 900'))).toEqual([
    expect.stringMatching(/^parley\.yaml:1:11: error: .*"idle_tim".*\n {6}= .*idle_time/),
    'Cannot take up the changed configuration "parley.yaml": it has errors; the earlier one stays in force',
  ]);
  expect([deployment.limits.idleTimeMs, served]).toEqual([600_000, ['refused']]);
  expect(followed.standing.refused).toMatchObject([{ line: 1, column: 11 }]);
  const [unset] = await changed(TEXT.replace('/KEY', '/OTHER_KEY'));
  expect(unset).toMatch(/^parley\.yaml:2:\d+: error: .*"OTHER_KEY" is not set\n {6}= set OTHER_KEY$/);
  expect(await changed(TEXT.replace('600', '700'))).toEqual([
    'the configuration has no errors any more',
    'the changed configuration holds from now on: limits.idle_time',
  ]);
  expect(followed.standing.refused).toEqual([]);
});

it('names what holds after the next start, until it is taken back', async () => {
  const { followed, changed, deployment } = await following(TEXT);
  const spec = deployment.warmPool?.spec;
  expect(await changed(`${TEXT}runtime: { isolation: none }\nwarm_pool: { size: 2 }\n`)).toEqual([
    'the changed configuration holds from now on: warm_pool.size',
    'these hold after the next start: runtime.isolation',
  ]);
  expect(deployment.warmPool).toMatchObject({ size: 2, spec });
  await changed(TEXT);
  expect(followed.standing.needsRestart).toEqual([]);
});

it('keeps the product word, and with it the models that are written in the earlier one', async () => {
  const { served, changed, deployment } = await following(TEXT);
  const forwards = '{ general_settings: { forward_client_headers_to_llm_api: true },';
  const renamed = `proxy: { vendor: acme }\n${modelsIn('acme').replace('{', forwards)}`;
  expect(await changed(renamed)).toEqual([
    'the changed configuration holds from now on: limits.idle_time',
    'these hold after the next start: proxy.vendor, proxy_config',
  ]);
  expect([deployment.vendor, deployment.forwardsHeaders, served]).toEqual(['proxyvendor', false, []]);
  await changed(`${TEXT}capacity: { sandboxes: 7 }\n`);
  expect([deployment.capacity.installationMax, served]).toEqual([7, ['coder']]);
});

it('does not take up again what a desk has written', async () => {
  const { followed, told, served, deployment } = await following(TEXT);
  const desk = openConfigurationDesk({ followed, owner: null });
  const { revision } = await desk.state();
  const text = `limits: { idle_time: 60 }\n${modelsIn('proxyvendor', 'writer')}`;
  expect(await desk.change(revision, { kind: 'text', text })).toMatchObject({ kind: 'deployed' });
  await followed.poll();
  expect([served, told, deployment.limits.idleTimeMs]).toEqual([['writer'], [], 60_000]);
});

it('tells at a desk what was changed by hand: not looked at, refused, in force', async () => {
  const { followed, write } = await following(TEXT);
  const desk = openConfigurationDesk({ followed, owner: null });
  const warnings = async () => (await desk.state()).warnings;
  write(TEXT.replace('600', 'soon'));
  expect(await warnings()).toEqual([expect.stringContaining('was not looked at yet')]);
  await followed.poll();
  expect(await warnings()).toEqual([
    expect.stringMatching(/^The earlier configuration stays in force: parley\.yaml:1:22: /),
  ]);
  write(TEXT);
  await followed.poll();
  expect(await warnings()).toEqual([]);
});

it('takes up at its first look what was changed while the process started', async () => {
  const { followed, write, standings, deployment } = await following(TEXT);
  write(TEXT.replace('600', '30'));
  followed.start();
  await followed.poll();
  expect(deployment.limits.idleTimeMs).toBe(30_000);
  expect(new Set(standings.map(({ revision }) => revision)).size).toBe(2);
});

it('does not take a text that is still being written', async () => {
  const { followed, write, told, deployment } = await following(TEXT);
  write('limits: { idle_time: 1 }\n');
  const looking = followed.poll();
  await afterTurn();
  write(TEXT.replace('600', '1200'));
  await looking;
  expect([told, deployment.limits.idleTimeMs]).toEqual([[], 600_000]);
  await followed.poll();
  expect(deployment.limits.idleTimeMs).toBe(1_200_000);
});

it('takes up a file that is made where there was none, and goes on without one that was removed', async () => {
  const { followed, file, changed, told, deployment } = await following(null);
  await followed.poll();
  expect(told).toEqual([]);
  expect(await changed('limits: { idle_time: 60 }\n')).toEqual([
    'the changed configuration holds from now on: limits.idle_time',
  ]);
  rmSync(file);
  await followed.poll();
  expect(told.at(-1)).toMatchObject({
    kind: 'refused',
    problems: [{ message: expect.stringContaining('there is no such file') as string }],
  });
  expect(deployment.limits.idleTimeMs).toBe(60_000);
});
