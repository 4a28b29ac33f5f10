/** A configuration file that is changed while processes go by it: by the API and by hand, alone and beside a worker on Temporal. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import path from 'node:path';
import { callServed, PLAIN, serve } from '../api/served.ts';
import { eventually, type ServiceCall } from '../api/service.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startFollowedWorker } from './followed-worker.ts';

const CONFIGURATION = '/api/v1/configuration';

it('holds in parley serve soon after it was changed by hand', async () => {
  const folder = tempDir();
  const served = await serve(folder);
  const settings = () => callServed(served, served.key ?? '', { path: '/api/v1/settings' });
  expect((await settings()).body.limits.sandboxes_per_user).toBe(10);
  writeFileSync(path.join(folder, 'parley.yaml'), `${PLAIN}capacity: { sandboxes_per_user: 3 }\n`);
  await eventually(settings, ({ body }) => body.limits.sandboxes_per_user === 3);
  expect(await served.end('SIGTERM'), served.notices()).toBe(0);
});

describeWith('temporal', 'parley serve beside a worker on Temporal', () => {
  it('deploys a configuration that the worker takes up, and tells what the worker refuses or cannot follow', async () => {
    const both = await startFollowedWorker();
    const { served, file, callModel, said } = both;
    const call = (one: Omit<ServiceCall, 'path'> = {}) =>
      callServed(served, served.key ?? '', { path: CONFIGURATION, ...one });
    expect((await callModel()).headers['x-route']).toBeUndefined();

    const { body: before } = await call();
    expect([before.text, before.warnings, before.needs_restart]).toEqual([both.config, [], []]);
    const fields = { idle_time: 900, custom_llm_extra_headers: { 'x-route': 'blue' } };
    const deployed = await call({ method: 'PATCH', body: { fields, revision: before.revision } });
    expect([deployed.status, deployed.body]).toMatchObject([
      200,
      { applied: ['limits.idle_time', 'proxy_config'], needs_restart: [], warnings: [] },
    ]);
    // Told as applied, it holds in the proxy of the worker, too.
    expect((await callModel()).headers['x-route']).toBe('blue');
    await said('the changed configuration holds from now on: limits.idle_time, proxy_config');
    const settings = await callServed(served, served.key ?? '', { path: '/api/v1/settings' });
    expect(settings.body.limits.idle_time).toBe(900);

    const written = readFileSync(file, 'utf8');
    writeFileSync(file, written.replace('x-route: blue', 'x-route: green').replace('limits:', 'limit:'));
    await said('the earlier one stays in force');
    expect(both.notices()).toMatch(/^parley\.yaml:5:1: error: unknown key "limit".*\n +=/m);
    expect((await callModel()).headers['x-route']).toBe('blue');
    const stays = /^The earlier configuration stays in force: parley\.yaml:5:1: unknown key "limit"/;
    await eventually(call, ({ body }) => body.warnings.length === 1 && stays.test(body.warnings[0]));

    const [entry = ''] = /\{"model_name.*\}(?=\])/.exec(both.config) ?? [];
    const models = `${entry}, ${entry.replace('coder', 'second')}`;
    const red = '], general_settings: { custom_llm_extra_headers: { x-route: red } } }';
    const next = both.config.replace(entry, models).replace('] }', red);
    writeFileSync(file, `${next}results: { path: elsewhere }\n`);
    await said('these hold after the next start: results.path');
    expect((await callModel()).headers['x-route']).toBe('red');
    const followed = await eventually(call, ({ body }) => body.warnings.length === 0);
    expect(followed.body.needs_restart).toEqual(['results.path']);
    const listed = await callServed(served, served.key ?? '', { path: '/api/v1/config/models/search' });
    expect(listed.body.items).toMatchObject([{ name: 'coder' }, { name: 'second' }]);
    expect(await both.end(), both.notices()).toEqual([0, 0]);
  });
});
