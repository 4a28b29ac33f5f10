/** Every object that the chart makes, by what Kubernetes and the makers of custom kinds say about their fields. */
import path from 'node:path';
import { expect, it } from 'vitest';
import { installedObjectSchemas } from '../../scripts/object-schemas.js';
import { describeWith } from '../helpers/requires.ts';
import { objectChecker } from './object-schemas.ts';
import { FORMS, render } from './rendered-chart.ts';
import type { Manifest } from './rendered-chart.ts';

const RECIPES = path.resolve(import.meta.dirname, '../../examples/recipes');
/** Pieces that are handed to Kubernetes as they are. */
const EXTRAS = {
  podAnnotations: { 'example.org/team': 'red' },
  priorityClassName: 'high',
  nodeSelector: { pool: 'parley' },
  tolerations: [{ key: 'parley', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{}] } } },
  extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy.test:3128' }],
  extraVolumes: [{ name: 'authorities', configMap: { name: 'authorities' } }],
  extraVolumeMounts: [{ name: 'authorities', mountPath: '/etc/authorities', readOnly: true }],
};
const SPREAD = [
  { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
];
const VALUES = {
  api: { ...EXTRAS, topologySpreadConstraints: SPREAD },
  worker: { ...EXTRAS, topologySpreadConstraints: SPREAD },
  proxy: { ...EXTRAS, topologySpreadConstraints: SPREAD },
  jobs: EXTRAS,
  ingress: {
    annotations: { a: 'b' },
    className: 'front',
    tls: [{ secretName: 'cert', hosts: ['parley.test'] }],
  },
  gateway: { timeout: '0s', annotations: { a: 'b' } },
};

describeWith('object-schemas', 'the objects of the chart', () => {
  const check = objectChecker(installedObjectSchemas(process.env) ?? '');

  it.each(FORMS)('have no field that nobody knows: %s', (_, given) => {
    for (const values of [[], [VALUES]]) {
      const { manifests, stderr } = render(given, [path.join(RECIPES, 'cluster-values.yaml'), ...values]);
      expect(manifests.length, stderr).toBeGreaterThan(15);
      for (const object of manifests)
        expect(check(object), `${object.kind} ${object.metadata.name}`).toEqual([]);
    }
  });

  it.each([
    ['Deployment', ['spec', 'template', 'spec', 'containers', 0, 'img'], 'x'],
    ['Deployment', ['spec', 'replicas'], '2'],
    ['Job', ['spec', 'template'], undefined],
    ['NetworkPolicy', ['spec', 'egress'], [{ port: [] }]],
    ['HTTPRoute', ['spec', 'hostname'], 'x'],
    ['ServiceMonitor', ['spec', 'endpoints', 0, 'every'], '1s'],
    ['ExternalSecret', ['spec', 'secretStoreRef', 'kind'], 'Vault'],
    ['Service', ['kind'], 'Servis'],
  ] as const)('are refused when one is wrong: %s %j', (kind, at, value) => {
    const { manifests } = render(FORMS[4][1], [VALUES]);
    const object = structuredClone(manifests.find((one) => one.kind === kind));
    if (object === undefined) throw new Error(`no ${kind}`);
    expect(check(object)).toEqual([]);
    const parent = at.slice(0, -1).reduce<unknown>((found, key) => Reflect.get(Object(found), key), object);
    Reflect.set(Object(parent), at[at.length - 1] ?? '', value);
    expect(check(JSON.parse(JSON.stringify(object)) as Manifest)).not.toEqual([]);
  });
});
