/** The routes of the configuration: for administrators only, and every outcome of the desk as an answer. */
import { expect, it } from 'vitest';
import type {
  ConfigurationChange,
  ConfigurationDesk,
  ConfigurationOutcome,
  ConfigurationState,
} from '../../api/configuration/configuration-desk.ts';
import { openService } from './service.ts';

const REVISION = 'a'.repeat(64);
const STATE: ConfigurationState = {
  path: '/etc/parley.yaml',
  text: 'limits: {}\n',
  revision: REVISION,
  fields: {
    idle_time: 1_200,
    deletion_time: 0,
    forward_client_headers_to_llm_api: false,
    llm_provider: 'custom',
    custom_llm_extra_headers: { 'x-route': 'blue' },
  },
  overridden: ['store.path'],
  needs_restart: [],
  warnings: ['not taken up'],
};

/** Answers with `outcome`, and records each request. */
function deskThat(outcome: ConfigurationOutcome) {
  const asked: { readonly revision: string; readonly change: ConfigurationChange }[] = [];
  const configuration: ConfigurationDesk = {
    state: () => Promise.resolve(STATE),
    change(revision, change) {
      asked.push({ revision, change });
      return Promise.resolve(outcome);
    },
  };
  return { configuration, asked };
}

const path = '/api/v1/configuration';
const DEPLOYED: ConfigurationOutcome = {
  kind: 'deployed',
  state: STATE,
  applied: ['limits.idle_time'],
  warnings: ['mind this'],
};

it('shows the configuration to an administrator, and to nobody else', async () => {
  const { configuration } = deskThat(DEPLOYED);
  const service = await openService({ configuration });
  const { status, body } = await service.call({ path });
  expect(status).toBe(200);
  expect(body).toEqual({
    ...{
      path: STATE.path,
      text: STATE.text,
      revision: REVISION,
      overridden: ['store.path'],
      needs_restart: [],
      warnings: ['not taken up'],
    },
    fields: {
      ...{ idle_time: 1_200, deletion_time: 0, forward_client_headers_to_llm_api: false },
      ...{ llm_provider: 'custom', custom_llm_extra_headers: { 'x-route': 'blue' } },
    },
  });
  for (const [key, refused] of [
    [service.ben, 403],
    [null, 401],
  ] as const)
    for (const method of ['GET', 'PUT', 'PATCH'])
      expect(
        (await service.call({ method, path, key, ...(method === 'GET' ? {} : { body: {} }) })).status,
      ).toBe(refused);
});

it('takes a text or fields, tells what holds from now on, and leaves both in the audit log', async () => {
  const { configuration, asked } = deskThat(DEPLOYED);
  const service = await openService({ configuration });
  const put = await service.call({ method: 'PUT', path, body: { text: 'x: 1\n', revision: REVISION } });
  expect([put.status, put.body.applied, put.body.warnings]).toEqual([
    200,
    ['limits.idle_time'],
    ['not taken up', 'mind this'],
  ]);
  const fields = { idle_time: 60, forward_client_headers_to_llm_api: true, custom_llm_extra_headers: {} };
  expect((await service.call({ method: 'PATCH', path, body: { fields, revision: REVISION } })).status).toBe(
    200,
  );
  expect(asked).toEqual([
    { revision: REVISION, change: { kind: 'text', text: 'x: 1\n' } },
    { revision: REVISION, change: { kind: 'fields', fields } },
  ]);
  const { body } = await service.call({ path: '/api/v1/audit/search' });
  expect(body.items.map(({ action }: { action: string }) => action)).toEqual([
    'update_configuration',
    'deploy_configuration',
  ]);
});

it('tells every finding with its place, and a change that somebody else was faster than', async () => {
  const findings = [{ loc: ['body', 'text', 3, 1], msg: 'Unknown key "limit"', type: 'configuration_error' }];
  const refusing = await openService(deskThat({ kind: 'refused', findings }));
  const body = { text: 'limit: 1\n', revision: REVISION };
  const refused = await refusing.call({ method: 'PUT', path, body });
  expect([refused.status, refused.body]).toEqual([422, { detail: findings, code: 'invalid_request' }]);
  const late = await openService(deskThat({ kind: 'outdated' }));
  const outdated = await late.call({ method: 'PUT', path, body });
  expect([outdated.status, outdated.body.code]).toEqual([409, 'store_conflict']);
});

it.each([
  ['PUT', { text: 'x', revision: 'latest' }],
  ['PATCH', { revision: REVISION, fields: { idle_time: -1 } }],
  ['PATCH', { revision: REVISION, fields: { max_session: 1 } }],
])('refuses a %s of %j before the desk is asked', async (method, body) => {
  const { configuration, asked } = deskThat(DEPLOYED);
  const service = await openService({ configuration });
  expect((await service.call({ method, path, body })).status).toBe(422);
  expect(asked).toEqual([]);
});

it('has none where the service was started without one', async () => {
  const service = await openService();
  expect((await service.call({ path })).body.code).toBe('not_found');
});
