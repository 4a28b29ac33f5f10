/** The values of the chart: each has an effect, and what is wrong is refused with its path or its reason. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeWith } from '../helpers/requires.ts';
import { CHANGED, EXTERNAL, FIXED, MONITORED, SCALED } from './changed-values.ts';
import { ALL, SHARED, TEMPORAL, render } from './rendered-chart.ts';

const CHART = path.resolve(import.meta.dirname, '../../chart');

function leaves(value: unknown, at: readonly string[] = []): readonly string[] {
  const isBranch =
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
  if (!isBranch) return [at.join('.')];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...at, key]));
}

describeWith('helm', 'the values of the chart', () => {
  const defaults: unknown = parse(readFileSync(path.join(CHART, 'values.yaml'), 'utf8'));

  it('are all in the table of this test', () => {
    expect([...Object.keys(CHANGED), ...FIXED].sort()).toEqual([...leaves(defaults)].sort());
  });

  it.each(Object.entries(CHANGED))('have an effect: %s', (key, { value, with: counts = [] }) => {
    const before = render(counts);
    const after = render(counts, [], { changed: [key, value] });
    expect(said(before.stderr)).toBe('');
    expect(said(after.stderr)).toBe('');
    expect(after.manifests).not.toEqual(before.manifests);
  });

  it.each([
    // What the schema refuses, with the path.
    ['an unknown key', ['proxi.port=1'], "additional properties 'proxi' not allowed"],
    ['an unknown key within', ['api.prot=1'], "at '/api': additional properties 'prot' not allowed"],
    ['one of a list', ['api.extraEnv[0].nam=X'], "at '/api/extraEnv/0'"],
    ['no image', ['image.digest=latest'], "at '/image/digest'"],
    ['an image by tag', ['sandboxes.image=sandbox:latest'], "at '/sandboxes/image'"],
    ['another engine', ['engine.kind=temporel'], "at '/engine/kind'"],
    ['a server without a port', ['engine.temporal.address=temporal'], "at '/engine/temporal/address'"],
    [
      'a wait that is no duration',
      ['engine.temporal.register.wait=soon'],
      "at '/engine/temporal/register/wait'",
    ],
    ['a bucket with a path', ['store.s3.bucket=a/b'], "at '/store/s3/bucket'"],
    ['an endpoint that is YAML', ['store.s3.endpoint=https://a: b'], "at '/store/s3/endpoint'"],
    ['a bucket of no region', ['store.s3.bucket=results'], 'needs store.s3.region'],
    ['a key without a bucket', ['store.s3.accessKeySecret.name=x'], 'needs store.s3.bucket'],
    ['a port as a text', ['api.port=http'], "at '/api/port'"],
    ['a port beyond all', ['proxy.port=65536'], "at '/proxy/port'"],
    ['no replica', ['api.replicas=0'], "at '/api/replicas'"],
    ['a switch as a text', ['ingress.enabled=maybe'], "at '/ingress/enabled'"],
    ['a host with a path', ['ingress.hosts={a.test/x}'], "at '/ingress/hosts/0'"],
    ['a host that is YAML', ['ingress.hosts={a: b}'], "at '/ingress/hosts/0'"],
    ['a host twice', ['gateway.hostnames={a.test,a.test}'], "at '/gateway/hostnames'"],
    ['an address with a path', ['api.publicUrl=https://a.test/x'], "at '/api/publicUrl'"],
    ['an address with quotes', ['api.publicUrl=https://a"b'], "at '/api/publicUrl'"],
    [
      'a variable that is no name',
      ['proxy.secretEnvironment.variables={A-B}'],
      "at '/proxy/secretEnvironment/variables/0'",
    ],
    ['a secret that is no name', ['seal.secretName=a b'], "at '/seal/secretName'"],
    [
      'a budget of none',
      ['api.disruptionBudget.maxUnavailable=0'],
      "at '/api/disruptionBudget/maxUnavailable'",
    ],
    ['a size that is none', ['api.storage.size=much'], "at '/api/storage/size'"],
    ['an effect that is none', ['api.tolerations[0].effect=Never'], "at '/api/tolerations/0/effect'"],
    ['a store that is none', ['externalSecrets.storeRef.kind=Vault'], "at '/externalSecrets/storeRef/kind'"],
    // What it cannot say, with the reason.
    ['two APIs on a file', ['api.replicas=2'], 'its volume is on one node'],
    [
      'a scaled API on a file',
      ['api.autoscaling.enabled=true'],
      'api.autoscaling needs engine.kind temporal',
    ],
    [
      'less than at least',
      [...SCALED, 'api.autoscaling.minReplicas=7', 'api.autoscaling.maxReplicas=2'],
      'must not be above',
    ],
    ['scaling by nothing', [...SCALED, 'api.autoscaling.cpuPercent=0'], 'needs cpuPercent or memoryPercent'],
    ['two workers without a bucket', [...TEMPORAL, 'worker.replicas=2'], 'needs store.s3.bucket'],
    ['two workers of no engine', ['worker.replicas=2'], 'needs engine.kind temporal'],
    ['two proxies without a database', ['proxy.replicas=2'], 'needs proxy.store.urlSecret.name'],
    [
      'one database of engine and proxies',
      [...TEMPORAL, 'proxy.store.urlSecret.name=database'],
      'would count them twice',
    ],
    [
      'a database of proxies without a master key',
      [...SHARED, 'proxy.secretEnvironment.variables={GATEWAY_KEY}'],
      'needs PROXY_MASTER_KEY',
    ],
    ['a scaled proxy', ['proxy.autoscaling.enabled=true'], 'leaves rows of spend on its volume'],
    ['sandboxes beside Parley', ['sandboxes.namespace=parley'], 'must not be the namespace of this release'],
    [
      'Temporal on a file',
      ['engine.kind=temporal', 'engine.temporal.address=t:1'],
      'needs store.kind postgres',
    ],
    [
      'Temporal without a server',
      ['engine.kind=temporal', 'store.kind=postgres'],
      'needs engine.temporal.address',
    ],
    ['variables of no secret', ['engineEnvironment.variables={A}'], 'needs engineEnvironment.secretName'],
    [
      'the key of the gateway for the engine',
      ['engineEnvironment.secretName=model-gateway'],
      'only the proxy',
    ],
    ['the key of the gateway as the engine’s own', ['engineKey.secretName=model-gateway'], 'only the proxy'],
    ['the key of the gateway as the first', ['firstKey.existingSecret=model-gateway'], 'only the proxy'],
    [
      'the key of the gateway in a variable',
      ['api.extraEnv[0].name=A', 'api.extraEnv[0].valueFrom.secretKeyRef.name=model-gateway'],
      'api.extraEnv must not read the secret of the gateway',
    ],
    [
      'the key of the gateway in a volume',
      ['jobs.extraVolumes[0].name=v', 'jobs.extraVolumes[0].secret.secretName=model-gateway'],
      'jobs.extraVolumes must not mount the secret of the gateway',
    ],
    [
      'the key of the gateway in a part of a volume',
      [
        'worker.extraVolumes[0].name=v',
        'worker.extraVolumes[0].projected.sources[0].secret.name=model-gateway',
      ],
      'worker.extraVolumes must not mount the secret of the gateway',
    ],
    ['an Ingress for no host', ['ingress.enabled=true'], 'needs ingress.hosts'],
    [
      'a route to no Gateway',
      ['gateway.enabled=true', 'gateway.hostnames={a.test}'],
      'needs gateway.parentRefs',
    ],
    ['secrets from nowhere', ['externalSecrets.enabled=true'], 'needs externalSecrets.storeRef.name'],
    [
      'an external secret without a name',
      [...EXTERNAL, 'externalSecrets.remote.seal=kv'],
      'needs seal.secretName',
    ],
    [
      'metrics under no key',
      [...MONITORED, 'serviceMonitor.proxyKey=OTHER'],
      'must be one of proxy.secretEnvironment',
    ],
    [
      'a second volume "data"',
      ['api.extraVolumes[0].name=data', 'api.extraVolumes[0].emptyDir.medium='],
      'has one of that name',
    ],
    [
      'a volume over the configuration',
      ['proxy.extraVolumeMounts[0].name=v', 'proxy.extraVolumeMounts[0].mountPath=/etc/parley/'],
      'something is there already',
    ],
  ])('refuse %s', (_, given, word) => {
    const { code, stderr } = render(given);
    expect(code).not.toBe(0);
    expect(stderr).toContain(word);
  });

  it('keep hostile texts what they are: texts', () => {
    const hostile = '"}\n{{ fail "x" }}\n---\nkind: Secret # <script>\u001b[31m';
    const { manifests, stderr } = render(
      [...TEMPORAL, ...ALL],
      [
        {
          api: { podAnnotations: { note: hostile }, extraEnv: [{ name: 'NOTE', value: hostile }] },
          ingress: { annotations: { note: hostile } },
          firstKey: { existingSecret: 'mine' },
          externalSecrets: { remote: { firstKey: hostile } },
        },
      ],
    );
    expect(said(stderr)).toBe('');
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    const text = JSON.stringify(manifests);
    expect(text.split(JSON.stringify(hostile).slice(1, -1)).length - 1).toBe(4);
  });

  it('may be many', () => {
    const extraEnv = Array.from({ length: 10_000 }, (_, index) => ({ name: `V${index}`, value: 'x' }));
    const { manifests } = render([], [{ api: { extraEnv } }]);
    expect(JSON.stringify(manifests)).toContain('"V9999"');
  });
});

/** Helm warns of links in the working copy. */
function said(stderr: string): string {
  return stderr.replace(/^WARNING.*$/gm, '').trim();
}
