/** Saving and deploying the configuration of a running service: checked, written whole, kept, and followed where it can be. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { loadDeployment } from '../../../host/config/load-deployment.ts';
import { openConfigurationDesk } from '../../../host/serve/configuration-desk.ts';
import type { ConfigurationChange } from '../../../api/configuration/configuration-desk.ts';
import type { Environment } from '../../../host/config/effective-values.ts';
import { FollowedConfiguration } from '../../../host/follow/followed-configuration.ts';
import type { ProxyConfig } from '../../../proxy/config/config.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const TEXT = `# limits of this place
limits: { idle_time: 600 } # ten minutes
proxy_config:
  model_list:
    - model_name: coder
      proxyvendor_params: { model: openai/acme/coder, api_base: http://127.0.0.1:9/v1, api_key: os.environ/KEY }
`;

async function running(text: string | null, env: Environment = { KEY: 'k' }) {
  const folder = tempDir();
  const file = path.join(folder, 'parley.yaml');
  if (text !== null) writeFileSync(file, text, { mode: 0o640 });
  const { config } = await loadDeployment({ path: text === null ? null : file, cwd: folder, env });
  if (config === null) throw new Error('the configuration of this test has errors');
  const reloads: ProxyConfig[] = [];
  const followed = new FollowedConfiguration({
    ...{ config, env, cwd: folder },
    proxy: { reload: (proxy) => void reloads.push(proxy), reloadRefused: () => undefined },
    onNews: () => undefined,
  });
  const desk = openConfigurationDesk({ followed, owner: null });
  const change = async (wanted: ConfigurationChange) =>
    await desk.change((await desk.state()).revision, wanted);
  const put = (next: string) => change({ kind: 'text', text: next });
  return { desk, file, folder, reloads, put, change, deployment: config.deployment };
}

it('deploys a text: limits hold at once, the file is replaced, the text before it is kept', async () => {
  const { desk, file, folder, put, reloads, deployment } = await running(TEXT);
  const next = TEXT.replace('600', '900');
  const outcome = await put(next);
  expect(outcome).toMatchObject({
    kind: 'deployed',
    applied: ['limits.idle_time'],
    state: { needs_restart: [] },
  });
  expect([deployment.limits.idleTimeMs, reloads.length]).toEqual([900_000, 0]);
  expect(readFileSync(file, 'utf8')).toBe(next);
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(readFileSync(`${file}.previous`, 'utf8')).toBe(TEXT);
  expect(readdirSync(folder).sort()).toEqual(['parley.yaml', 'parley.yaml.previous']);
  expect((await desk.state()).fields.idle_time).toBe(900);
});

it.each([
  ['an unknown key', 'limits: { idle_tim: 1 }\n', [1, 11], 'idle_tim'],
  ['YAML that is none', 'limits: [\n', [1, 9], 'never closed'],
  ['a value that is no number', 'limits:\n  idle_time: soon\n', [2, 14], 'idle_time'],
  ['a model without an address', 'proxy_config:\n  model_list: [{ model_name: x }]\n', [2, 16], 'x'],
])('refuses %s with its place, and changes nothing', async (_what, text, place, word) => {
  const { file, folder, put, deployment } = await running(TEXT);
  const outcome = await put(text);
  if (outcome.kind !== 'refused') throw new Error(`it was ${outcome.kind}`);
  const [first] = outcome.findings;
  expect(first?.loc.slice(0, 2)).toEqual(['body', 'text']);
  expect([first?.loc.slice(2), first?.msg]).toEqual([place, expect.stringContaining(word)]);
  expect(readFileSync(file, 'utf8')).toBe(TEXT);
  expect(readdirSync(folder)).toEqual(['parley.yaml']);
  expect(deployment.limits.idleTimeMs).toBe(600_000);
});

it('reloads the proxy for its block, and says what waits for a restart until it is taken back', async () => {
  const { desk, put, reloads } = await running(TEXT);
  const outcome = await put(`${TEXT}agent: { iterations_max: 7 }\nengine: { events_max: 500 }\n`);
  expect(outcome).toMatchObject({
    applied: ['agent.iterations_max'],
    state: { needs_restart: ['engine.events_max'] },
  });
  await put(TEXT.replace('model_name: coder', 'model_name: writer'));
  expect(reloads.map(({ models }) => models.map(({ modelName }) => modelName))).toEqual([['writer']]);
  expect((await desk.state()).needs_restart).toEqual([]);
});

it('changes single fields and leaves comments, order and references as they are', async () => {
  const { change, file, reloads, deployment } = await running(TEXT);
  const fields = {
    idle_time: 0,
    forward_client_headers_to_llm_api: true,
    custom_llm_extra_headers: { 'x-route': 'blue' },
  };
  const outcome = await change({ kind: 'fields', fields });
  expect(outcome).toMatchObject({ kind: 'deployed', applied: ['limits.idle_time', 'proxy_config'] });
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('# limits of this place\nlimits: { idle_time: 0 } # ten minutes\n');
  expect(text).toContain('os.environ/KEY');
  expect([deployment.limits.idleTimeMs, deployment.forwardsHeaders]).toEqual([null, true]);
  expect([...(reloads[0]?.customHeaders ?? [])]).toEqual([['x-route', 'blue']]);
  expect(
    await change({ kind: 'fields', fields: { custom_llm_extra_headers: {}, llm_provider: 'openai' } }),
  ).toMatchObject({
    kind: 'deployed',
    state: { fields: { custom_llm_extra_headers: {}, llm_provider: 'openai' } },
  });
  expect(
    await change({ kind: 'fields', fields: { custom_llm_extra_headers: { 'x-a': 'b' } } }),
  ).toMatchObject({
    kind: 'refused',
  });
});

it('lets the first of two changes win, and takes them one after the other', async () => {
  const { desk, file } = await running(TEXT);
  const { revision } = await desk.state();
  const outcomes = await Promise.all(
    ['700', '800'].map((value) => desk.change(revision, { kind: 'text', text: TEXT.replace('600', value) })),
  );
  expect(outcomes.map(({ kind }) => kind)).toEqual(['deployed', 'outdated']);
  expect(readFileSync(file, 'utf8')).toContain('idle_time: 700');
});

it('makes the file where there was none, and says which keys the environment decides', async () => {
  const { desk, file, change } = await running(null, { PARLEY_IDLE_TIME: '30' });
  const before = await desk.state();
  expect([before.text, before.path, before.overridden]).toEqual(['', file, ['limits.idle_time']]);
  expect(before.fields.idle_time).toBe(30);
  const outcome = await change({ kind: 'fields', fields: { deletion_time: 60, idle_time: 40 } });
  expect(outcome).toMatchObject({
    kind: 'deployed',
    applied: ['limits.deletion_time'],
    state: { fields: { idle_time: 30 }, needs_restart: [] },
  });
  expect(existsSync(`${file}.previous`)).toBe(false);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('refuses fields for a text that is no mapping', async () => {
  const { change, file } = await running(TEXT);
  writeFileSync(file, 'limits: 5\n');
  const outcome = await change({ kind: 'fields', fields: { idle_time: 40 } });
  expect(outcome).toMatchObject({ kind: 'refused', findings: [{ loc: ['body', 'fields'] }] });
});

it('follows the size of the warm pool at once, and what its sandboxes are made with only after a restart', async () => {
  const { put, deployment } = await running(TEXT);
  const spec = deployment.warmPool?.spec;
  const outcome = await put(`${TEXT}warm_pool: { size: 2 }\nruntime: { isolation: none }\n`);
  expect(outcome).toMatchObject({
    applied: ['warm_pool.size'],
    state: { needs_restart: ['runtime.isolation'] },
  });
  expect(deployment.warmPool).toMatchObject({ size: 2, spec });
});
