/** Values and the objects that come of them, for what stands around Parley: ways in, scaling, metrics, secrets. */
import { expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { GATEWAY, INGRESS } from './changed-values.ts';
import { TEMPORAL, podsOf, render } from './rendered-chart.ts';

const OWN = {
  'app.kubernetes.io/name': 'parley',
  'app.kubernetes.io/instance': 'rel',
  'app.kubernetes.io/component': 'api',
};

describeWith('helm', 'what the chart makes around Parley', () => {
  const specOf = (kind: string, given: readonly string[], name = 'rel-api'): unknown => {
    const { manifests, stderr } = render(given);
    const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
    if (found === undefined) throw new Error(`no ${kind} ${name}: ${stderr}`);
    return found['spec'];
  };
  const argsOf = (given: readonly string[]): readonly string[] =>
    podsOf(render(given).manifests).get('rel-api')?.containers[0]?.args ?? [];

  it.each([
    ['Ingress', [], 'rel-api'],
    ['HTTPRoute', [], 'rel-api'],
    ['HorizontalPodAutoscaler', TEMPORAL, 'rel-api'],
    ['ServiceMonitor', TEMPORAL, 'rel-proxy'],
    ['ExternalSecret', [], 'model-gateway'],
  ] as const)('has no %s unasked', (kind, given, name) => {
    expect(() => specOf(kind, given, name)).toThrow(`no ${kind}`);
  });

  it('leads a host and its certificate to the API, and says its address', () => {
    const tls = ['ingress.tls[0].secretName=cert', 'ingress.tls[0].hosts={a.test}'];
    const given = [...INGRESS, 'ingress.className=front', ...tls];
    const backend = { service: { name: 'rel-api', port: { name: 'http' } } };
    expect(specOf('Ingress', given)).toEqual({
      ingressClassName: 'front',
      tls: [{ secretName: 'cert', hosts: ['a.test'] }],
      rules: [{ host: 'a.test', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    });
    expect(argsOf(given)).toContain('--public-url=https://a.test');
    expect(argsOf(INGRESS)).toContain('--public-url=http://a.test');
    expect(argsOf([...INGRESS, 'api.publicUrl=https://b.test'])).toContain('--public-url=https://b.test');
  });

  it('leads a Gateway to the API', () => {
    expect(specOf('HTTPRoute', [...GATEWAY, 'gateway.timeout=0s'])).toEqual({
      parentRefs: [{ name: 'front' }],
      hostnames: ['b.test'],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          backendRefs: [{ name: 'rel-api', port: 3_030 }],
          timeouts: { request: '0s' },
        },
      ],
    });
    expect(argsOf(GATEWAY)).toContain('--public-url=https://b.test');
  });

  it('lets an API that keeps nothing be many, and leaves the work to the worker', () => {
    const scaled = [...TEMPORAL, 'api.autoscaling.enabled=true'];
    expect(specOf('HorizontalPodAutoscaler', scaled)).toMatchObject({
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'rel-api' },
      minReplicas: 2,
      maxReplicas: 6,
    });
    expect(specOf('Deployment', scaled)).not.toHaveProperty('replicas');
    expect(specOf('Deployment', [...TEMPORAL, 'api.replicas=3'])).toMatchObject({ replicas: 3 });
    const pod = podsOf(render(TEMPORAL).manifests).get('rel-api');
    expect(pod?.volumes).toContainEqual({ name: 'data', emptyDir: { sizeLimit: '1Gi' } });
    expect(argsOf(TEMPORAL)).toContain('--no-worker');
    expect(argsOf([])).not.toContain('--no-worker');
    expect(specOf('StatefulSet', [])).toHaveProperty('volumeClaimTemplates');
  });

  it('spreads the pods of a component by its own labels', () => {
    const spread = ['maxSkew=1', 'topologyKey=zone', 'whenUnsatisfiable=ScheduleAnyway'];
    const given = spread.map((one) => `api.topologySpreadConstraints[0].${one}`);
    expect(specOf('StatefulSet', given)).toMatchObject({
      template: {
        spec: { topologySpreadConstraints: [{ maxSkew: 1, labelSelector: { matchLabels: OWN } }] },
      },
    });
  });

  it('asks the proxy for metrics with its key, and the worker without', () => {
    const given = [...TEMPORAL, 'serviceMonitor.enabled=true'];
    const credentials = { name: 'model-gateway', key: 'PROXY_MASTER_KEY' };
    expect(specOf('ServiceMonitor', given, 'rel-proxy')).toMatchObject({
      endpoints: [{ port: 'http', path: '/metrics', authorization: { credentials } }],
    });
    expect(specOf('ServiceMonitor', given, 'rel-worker')).toMatchObject({ endpoints: [{ port: 'metrics' }] });
    expect(JSON.stringify(render(given).manifests)).toContain('metrics: 0.0.0.0:9464');
  });

  it('fills a secret from a store, key by key', () => {
    const store = ['externalSecrets.enabled=true', 'externalSecrets.storeRef.name=vault'];
    const given = [...store, 'externalSecrets.remote.gateway=kv/gateway'];
    expect(specOf('ExternalSecret', given, 'model-gateway')).toEqual({
      refreshInterval: '1h',
      secretStoreRef: { kind: 'SecretStore', name: 'vault' },
      target: { name: 'model-gateway', creationPolicy: 'Owner' },
      data: ['PROXY_MASTER_KEY', 'GATEWAY_KEY'].map((key) => ({
        secretKey: key,
        remoteRef: { key: 'kv/gateway', property: key },
      })),
    });
  });
});
