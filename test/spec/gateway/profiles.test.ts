/** Model profiles over the application's API: docs/spec.md, the gateway's resources and authentication. */
import { expect, it, describe } from 'vitest';
import { profileOf as storedProfile } from '../../../api/settings/profile-record.ts';
import { userId } from '../../../core/ids.ts';
import { openService, type Service } from '../../api/service.ts';
import { profileOf } from './recipe-chain.ts';

const PATH = '/api/v1/settings/profiles/ada';

/** Whose key `service.ada` is. */
const ADA = userId('ada');
const asSession = (key: string) => ({ key: null, headers: { 'x-session-api-key': key } });
const save = (service: Service, body: unknown) =>
  service.call({ method: 'POST', path: PATH, body, ...asSession(service.ada) });
const read = (service: Service) => service.call({ path: PATH, ...asSession(service.ada) });

describe('a model profile', () => {
  it('G14, G31: is saved as the recipe has it, and its headers survive the round trip', async () => {
    const service = await openService();
    const profile = profileOf('ada');
    expect((await save(service, profile)).status).toBe(201);
    expect((await read(service)).body).toMatchObject({
      name: 'ada',
      config: {
        model: profile.llm.model,
        base_url: profile.llm.base_url,
        extra_headers: profile.llm.extra_headers,
      },
    });
  });

  it('G11: keeps its key where told to, takes another one else, and shows none', async () => {
    const service = await openService();
    const { llm } = profileOf('ada');
    const key = async (): Promise<string | null> =>
      (await storedProfile(service.application, ADA, 'ada'))?.apiKey ?? null;
    await save(service, { llm: { ...llm, api_key: 'sk-planted-first' } });
    await save(service, { llm: { ...llm, api_key: 'sk-planted-second' }, preserve_existing_api_key: true });
    expect(await key()).toBe('sk-planted-first');
    await save(service, { llm: { ...llm, api_key: 'sk-planted-second' }, preserve_existing_api_key: false });
    expect(await key()).toBe('sk-planted-second');
    const shown = await read(service);
    expect(shown.body).toMatchObject({ api_key_set: true, config: { api_key: null } });
    expect(shown.text).not.toContain('sk-planted');
  });

  it('G36: takes the key of the API in X-Session-API-Key, and no profile of somebody else', async () => {
    const service = await openService();
    await save(service, profileOf('ada'));
    expect((await service.call({ path: PATH, key: null })).status).toBe(401);
    expect((await service.call({ path: PATH, ...asSession('sk-guess') })).status).toBe(401);
    expect((await service.call({ path: PATH, ...asSession(service.ben) })).status).toBe(404);
    expect((await read(service)).status).toBe(200);
  });
});
