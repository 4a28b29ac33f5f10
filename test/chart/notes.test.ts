/** What the chart says after an installation: what to do next for the values that were chosen, and what to mind. */
import { expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { EXTERNAL, GATEWAY, INGRESS, MONITORED, PEERS } from './changed-values.ts';
import { TEMPORAL, notes } from './rendered-chart.ts';

describeWith('helm', 'what is said after an installation', () => {
  it('leads from the key of the engine to the first request', () => {
    const text = notes(['ingress.enabled=true', 'ingress.hosts={parley.test}']);
    const steps = [
      '/key/generate',
      'create secret generic parley-engine-key',
      'get secret rel-first-key',
      'curl --header',
    ];
    const places = steps.map((step) => text.indexOf(step));
    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect(places[0]).toBeGreaterThan(0);
    expect(text).toContain('http://parley.test/api/v1/runs/search');
  });

  it.each([
    ['the address of this machine', [], 'port-forward service/rel-api 3030:3030'],
    ['an address with TLS', ['gateway.enabled=true', ...GATEWAY.slice(1)], 'at https://b.test'],
    [
      'how to make a key',
      ['firstKey.create=false'],
      'exec statefulset/rel-api -- /usr/local/bin/parley key create',
    ],
    ['where it is on Temporal', [...TEMPORAL, 'firstKey.create=false'], 'exec deployment/rel-api'],
    ['a key of yours', ['firstKey.existingSecret=mine'], 'get secret mine'],
    ['who registers', TEMPORAL, 'A job makes the namespace "default"'],
    [
      'who does not',
      [...TEMPORAL, 'engine.temporal.register.enabled=false'],
      'parley temporal register --address temporal.test:7233',
    ],
    [
      'a key that comes from elsewhere',
      [...EXTERNAL, 'externalSecrets.remote.engineKey=kv/e'],
      'comes from "kv/e" of your store',
    ],
    ['no TLS', INGRESS, 'without TLS'],
    ['an open API', [], 'name who may in api.from'],
    ['an open proxy', [], 'name the gateway in proxy.gateway'],
    ['a seal beside what it seals', [], 'give seal.secretName'],
    ['open metrics', MONITORED, 'name Prometheus in serviceMonitor.from'],
    ['tools beside their server', ['sandboxes.podSecurity=restricted'], 'the same user'],
    ['no model', [], 'there is no model to call'],
  ])('says %s', (_, given, word) => {
    expect(notes(given)).toContain(word);
  });

  it('does not warn of what is closed', () => {
    const closed = {
      api: { from: PEERS },
      proxy: { gateway: [{ ports: [{ port: 443 }] }] },
      proxy_config: { model_list: [{ model_name: 'coder' }] },
    };
    expect(notes(TEMPORAL, [closed])).not.toContain('Mind:');
  });
});
