/**
 * The first key of a cluster, over the stand-in API server: made once, in an order that loses nothing, never printed.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeFirstKey } from '../../../host/serve/first-key.ts';
import { hashOfKey } from '../../../api/application/authentication.ts';
import { kubernetesCluster } from '../../../runtimes/kubernetes/cluster.ts';
import { openStore, type Store } from '../../../store/open-store.ts';
import { fakeShell, recordsOf, runToEnd } from '../../cli/fake-shell.ts';
import { realClock } from '../../contract/real-clock.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { startFakeApi, type FakeApi } from '../../runtimes/kubernetes/fake-api/fake-api.ts';

const SECRET = 'rel-first-key';

describe('makeFirstKey()', () => {
  let api: FakeApi;
  let store: Store;

  beforeEach(async () => {
    const dir = tempDir();
    api = await startFakeApi({ dir, logOf: () => '', podSecurity: 'baseline' });
    store = await openStore({ kind: 'sqlite', path: path.join(dir, 'parley.db') });
  });
  afterEach(async () => {
    await store.close();
    await api.close();
  });

  const make = (keys: Store['apiKeys'] | null = store.apiKeys) => {
    const { kubeconfig, namespace } = api;
    const cluster = kubernetesCluster({ kubeconfig, context: null, namespace, clock: realClock });
    return makeFirstKey({ cluster, secret: SECRET, keys, now: 1_000 });
  };
  const textOf = (): string => {
    const data = api.store.get('secrets', SECRET)['data'] as Readonly<Record<string, string>>;
    return Buffer.from(data['api-key'] ?? '', 'base64').toString();
  };
  const keyOfSecret = () => store.apiKeys.findByHash(hashOfKey(textOf()));

  it('makes Secret and key, and a repeat changes nothing', async () => {
    expect(await make()).toBe('made');
    expect(await keyOfSecret()).toMatchObject({ scope: 'admin', name: 'first', userId: 'local' });
    const before = textOf();
    expect(await make()).toBe('secret_there');
    expect(textOf()).toBe(before);
    expect(await store.apiKeys.list((await keyOfSecret())!.userId)).toHaveLength(1);
  });

  it('issues the key of a Secret that a killed process has left', async () => {
    expect(await make(null)).toBe('secret_made');
    expect(await store.apiKeys.hasAny()).toBe(false);
    expect(await make()).toBe('issued');
    expect(await keyOfSecret()).not.toBeNull();
    expect(await make(null)).toBe('secret_there');
  });

  it('makes no Secret beside keys that open something', async () => {
    await store.apiKeys.add(
      {
        ...{ userId: 'red' as never, name: null, scope: 'user', createdAt: 1 },
        notBefore: null,
        expiresAt: null,
      },
      hashOfKey('pa-other'),
      9,
    );
    expect(await make()).toBe('keys_there');
    expect(api.store.find('secrets', SECRET)).toBeNull();
  });

  it('takes the Secret of another one that was faster', async () => {
    const calls = await Promise.allSettled([make(), make(null), make(null)]);
    expect(calls.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(await keyOfSecret()).not.toBeNull();
  });

  it('says when the account may not, and when the Secret is of no use', async () => {
    api.routes.forbidden.add('create secrets');
    await expect(make()).rejects.toMatchObject({ code: 'runtime_failed' });
    expect(await store.apiKeys.hasAny()).toBe(false);
    api.store.create('secrets', api.namespace, { metadata: { name: SECRET }, data: {} } as never);
    await expect(make()).rejects.toThrow(`Cannot use the secret "${SECRET}": it has no "api-key"`);
    const data = { 'api-key': Buffer.from('guess me').toString('base64') };
    api.store.change('secrets', SECRET, (object) => Object.assign(object, { data }));
    await expect(make()).rejects.toMatchObject({ code: 'config_invalid' });
    expect(await store.apiKeys.hasAny()).toBe(false);
  });

  it('is a command that prints what holds, and never the key', async () => {
    const cwd = tempDir();
    writeFileSync(
      path.join(cwd, 'parley.yaml'),
      `runtime: { kubernetes: { kubeconfig: ${JSON.stringify(api.kubeconfig)} } }\n`,
    );
    const run = async (...args: string[]) => {
      const shell = fakeShell({ cwd });
      const code = await runToEnd(shell, ['key', 'first', ...args]);
      return { code, shell, said: shell.stdout.text + shell.stderr.text };
    };
    const place = ['--secret', SECRET, '--namespace', api.namespace];
    const first = await run(...place, '--json');
    expect(recordsOf(first.shell)[1]).toEqual({
      type: 'key',
      outcome: 'made',
      secret: SECRET,
      namespace: api.namespace,
    });
    const second = await run(...place);
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(second.said).toBe(`${SECRET}: was there; nothing is changed\n`);
    expect((await run(...place, '--secret-only')).code).toBe(0);
    expect(first.said + second.said).not.toContain(textOf());
    expect(await run()).toMatchObject({ code: 2, said: expect.stringContaining('add --secret NAME') });
    expect(await run('--secret', SECRET)).toMatchObject({
      code: 2,
      said: expect.stringContaining('--namespace'),
    });
  });
});
