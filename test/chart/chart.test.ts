/**
 * The chart, rendered: who may read what, who reaches whom, and what every pod has.
 */
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { RIGHTS } from '../../cli/doctor/doctor-kubernetes.ts';
import { deploymentSchema } from '../../host/config/schema/deployment-schema.ts';
import { policyName } from '../../runtimes/kubernetes/names.ts';
import { describeWith } from '../helpers/requires.ts';
import { BUCKET, FORMS, TEMPORAL, lint, podsOf, render } from './rendered-chart.ts';
import type { Manifest } from './rendered-chart.ts';

const RECIPE = path.resolve(import.meta.dirname, '../../examples/recipes/cluster-values.yaml');
/** They serve nothing: they end. */
const JOBS = ['rel-first-key', 'rel-migrations', 'rel-register'];

describeWith('helm', 'the chart', () => {
  const manifestsOf = (given: readonly string[]): readonly Manifest[] => {
    const { code, stderr, manifests } = render(given, [RECIPE]);
    expect(stderr.replace(/^WARNING.*$/gm, '').trim()).toBe('');
    expect(code).toBe(0);
    return manifests;
  };
  const named = (manifests: readonly Manifest[], kind: string, name: string): Manifest => {
    const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
    if (found === undefined) throw new Error(`no ${kind} ${name}`);
    return found;
  };

  it.each(FORMS)('passes its own lint: %s', (_, given) => {
    const { code, stderr } = lint(given);
    expect(stderr).toContain('0 chart(s) failed');
    expect(code).toBe(0);
  });

  it.each(FORMS)('lets nobody but the proxy read the secret of the gateway: %s', (_, given) => {
    const manifests = manifestsOf(given);
    for (const [name, { containers, volumes }] of podsOf(manifests)) {
      const secrets = containers.flatMap(({ env = [] }) =>
        env.flatMap((one) => one.valueFrom?.secretKeyRef.name ?? []),
      );
      expect(secrets.includes('model-gateway'), name).toBe(name === 'rel-proxy');
      expect(JSON.stringify(volumes), name).not.toContain('secret');
    }
    // And no account may read secrets where it lies, but for the one that it makes.
    const own = manifests.filter(
      ({ kind, metadata }) => kind === 'Role' && metadata.namespace !== 'parley-sandboxes',
    );
    expect(own.map(({ metadata, rules }) => ({ name: metadata.name, rules }))).toEqual([
      {
        name: 'rel-first-key',
        rules: [
          { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
          { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['rel-first-key'] },
        ],
      },
    ]);
    expect(manifests.some(({ kind }) => kind.startsWith('ClusterRole'))).toBe(false);
    const engine = named(manifests, 'ConfigMap', 'rel-engine');
    expect(JSON.stringify(engine)).not.toMatch(/GATEWAY_KEY|gateway\.models/);
  });

  it.each([
    ['api', []],
    ['worker', TEMPORAL],
  ] as const)('gives the rights that the runtime uses to the account of the %s alone', (maker, given) => {
    const isApart = maker === 'worker';
    const manifests = manifestsOf(given);
    const { rules } = named(manifests, 'Role', 'rel-sandboxes') as unknown as {
      readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
    };
    expect(Object.fromEntries(rules.map(({ resources, verbs }) => [resources.join(), verbs]))).toEqual(
      RIGHTS,
    );
    const bindings = manifests.filter(({ kind }) => kind === 'RoleBinding');
    const bound = bindings.map(({ metadata, subjects }) => [metadata.name, subjects] as const);
    const account = (name: string) => [{ kind: 'ServiceAccount', name, namespace: 'parley' }];
    expect(Object.fromEntries(bound)).toEqual({
      'rel-sandboxes': account(`rel-${maker}`),
      ...(isApart ? { 'rel-sandboxes-seen': account('rel-api') } : {}),
      'rel-first-key': account('rel-first-key'),
    });
    for (const [name, { automountServiceAccountToken, serviceAccountName }] of podsOf(manifests)) {
      const has = [`rel-${maker}`, 'rel-api', 'rel-first-key'].includes(name);
      expect(automountServiceAccountToken, name).toBe(has);
      expect(serviceAccountName).toBe(name);
      expect(named(manifests, 'ServiceAccount', name)['automountServiceAccountToken']).toBe(false);
    }
  });

  it('lets an API that makes no sandboxes see where they are, so that it reaches their agents, and no more', () => {
    const { rules } = named(manifestsOf(TEMPORAL), 'Role', 'rel-sandboxes-seen') as unknown as {
      readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
    };
    expect(Object.fromEntries(rules.map(({ resources, verbs }) => [resources.join(), verbs]))).toEqual({
      pods: ['get', 'list', 'watch'],
      'pods/log': ['get'],
      persistentvolumeclaims: ['get', 'list'],
    });
  });

  it.each(FORMS)('bounds and confines every pod: %s', (_, given) => {
    for (const [name, { containers, securityContext }] of podsOf(manifestsOf(given))) {
      expect(securityContext, name).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of containers) {
        expect(container.securityContext, name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(Object.keys(container.resources?.limits ?? {}), name).toEqual(['cpu', 'memory']);
        expect(Object.keys(container.resources?.requests ?? {}), name).toEqual(['cpu', 'memory']);
        expect(container.image, name).toMatch(/@sha256:[0-9a-f]{64}$/);
        if (JOBS.includes(name)) continue;
        for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
          expect(container[probe], `${name} ${probe}`).toMatchObject({
            httpGet: { path: expect.any(String) },
          });
        }
      }
    }
  });

  it.each(FORMS)('lets every node be drained: %s', (_, given) => {
    const manifests = manifestsOf(given);
    const served = [...podsOf(manifests).keys()].filter((name) => !JOBS.includes(name));
    const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget');
    expect(budgets.map(({ metadata }) => metadata.name).sort()).toEqual(served.sort());
    for (const { spec } of budgets) expect(spec).toMatchObject({ maxUnavailable: 1 });
  });

  it('brings the tables up to date before an upgrade, where there is a database', () => {
    expect(podsOf(manifestsOf([])).has('rel-migrations')).toBe(false);
    const job = named(manifestsOf(TEMPORAL), 'Job', 'rel-migrations');
    expect(job.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'post-install,pre-upgrade' });
  });

  it.each(FORMS)('writes a configuration that Parley reads: %s', (_, given) => {
    const manifests = manifestsOf(given);
    for (const name of ['rel-engine', 'rel-proxy']) {
      const { data } = named(manifests, 'ConfigMap', name) as unknown as {
        readonly data: Record<string, string>;
      };
      const read = deploymentSchema.safeParse(parse(data['parley.yaml'] ?? ''));
      expect(read.error?.issues ?? []).toEqual([]);
    }
  });

  it('keeps files in a bucket, whose key the proxy does not have, and lets who writes there reach it', () => {
    const manifests = manifestsOf(BUCKET);
    const { data } = named(manifests, 'ConfigMap', 'rel-engine') as unknown as {
      readonly data: Record<string, string>;
    };
    expect(parse(data['parley.yaml'] ?? '')).toMatchObject({
      store: {
        blobs: {
          s3: {
            ...{ bucket: 'results', endpoint: 'https://s3.test:9000' },
            access_key_id: 'os.environ/PARLEY_S3_KEY_ID',
            secret_access_key: 'os.environ/PARLEY_S3_SECRET',
          },
        },
      },
    });
    const having = [...podsOf(manifests)]
      .filter(([, { containers }]) =>
        containers.some(({ env = [] }) => env.some((one) => one.valueFrom?.secretKeyRef.name === 'access')),
      )
      .map(([name]) => name);
    // Jobs read the configuration that names it; the proxy does not.
    expect(having).toEqual(expect.arrayContaining(['rel-api', 'rel-worker']));
    expect(having).toHaveLength([...podsOf(manifests)].length - 1);
    expect(having).not.toContain('rel-proxy');
    const reaching = (given: readonly string[]) =>
      manifestsOf(given)
        .filter((one) => one.kind === 'NetworkPolicy' && JSON.stringify(one).includes('"port":9000'))
        .map(({ metadata }) => metadata.name);
    expect(reaching(BUCKET)).toEqual(['rel-engines']);
    expect(reaching(TEMPORAL)).toEqual([]);
  });

  it('sends the calls of the engine to the proxy, under the names that the values give', () => {
    const manifests = manifestsOf([]);
    const { data } = named(manifests, 'ConfigMap', 'rel-engine') as unknown as {
      readonly data: Record<string, string>;
    };
    const { proxy_config: proxy } = parse(data['parley.yaml'] ?? '') as {
      readonly proxy_config: { readonly model_list: readonly Readonly<Record<string, unknown>>[] };
    };
    expect(proxy.model_list).toEqual(
      ['coder-red', 'coder-blue'].map((name) => ({
        model_name: name,
        proxyvendor_params: {
          model: `proxyvendor_proxy/${name}`,
          api_base: 'http://rel-proxy:4000',
          api_key: 'os.environ/PARLEY_PROXY_KEY',
        },
      })),
    );
  });

  it.each([
    ['api', []],
    ['worker', TEMPORAL],
  ] as const)('closes the network: sandboxes and the %s see each other, and nobody else', (maker, given) => {
    const manifests = manifestsOf(given);
    const own = named(manifests, 'NetworkPolicy', policyName('parley'));
    expect(own.metadata.namespace).toBe('parley-sandboxes');
    const peer = {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'parley' } },
      podSelector: {
        matchLabels: {
          'app.kubernetes.io/name': 'parley',
          'app.kubernetes.io/instance': 'rel',
          'app.kubernetes.io/component': maker,
        },
      },
    };
    // The API answers requests for a workspace, and requests it from the sandbox.
    const callers = {
      ...peer,
      podSelector: {
        matchLabels: { 'app.kubernetes.io/name': 'parley', 'app.kubernetes.io/instance': 'rel' },
        matchExpressions: [
          {
            key: 'app.kubernetes.io/component',
            operator: 'In',
            values: maker === 'api' ? ['api'] : ['api', 'worker'],
          },
        ],
      },
    };
    expect(own['spec']).toEqual({
      podSelector: { matchLabels: { 'dev.parley/installation': 'parley' } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ ports: [{ protocol: 'TCP', port: 8_000 }], from: [callers] }],
      egress: [{ ports: [4_100, 4_101, 4_102].map((port) => ({ protocol: 'TCP', port })), to: [peer] }],
    });
    for (const [name, namespace] of [
      ['parley-closed', 'parley-sandboxes'],
      ['rel-closed', undefined],
    ] as const) {
      const closed = named(manifests, 'NetworkPolicy', name);
      expect(closed.metadata.namespace).toBe(namespace);
      expect(closed['spec']).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
      expect(closed['spec']).not.toHaveProperty('ingress');
    }
    const service = named(manifests, 'Service', 'rel-routes')['spec'];
    expect(service).toMatchObject({ selector: peer.podSelector.matchLabels });
  });

  it.each(['baseline', 'restricted'])('holds the namespace of the sandboxes to the level %s', (level) => {
    const manifests = manifestsOf(level === 'baseline' ? [] : [`sandboxes.podSecurity=${level}`]);
    const { metadata } = named(manifests, 'Namespace', 'parley-sandboxes');
    expect(metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': level });
    expect(JSON.stringify(manifests)).toContain(`pod_security: ${level}`);
  });

  it('holds the namespace of the sandboxes to its quota, and keeps it', () => {
    const manifests = manifestsOf(['sandboxes.pods=20', 'sandboxes.volumes=50']);
    const { metadata } = named(manifests, 'Namespace', 'parley-sandboxes');
    expect(metadata.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
    expect(named(manifests, 'ResourceQuota', 'parley-sandboxes')['spec']).toEqual({
      hard: { pods: '22', persistentvolumeclaims: '50', 'requests.storage': '512000Mi', services: '0' },
    });
  });
});
