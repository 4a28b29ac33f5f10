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

  it('are refused when a field is misspelt, of another type or missing, at any depth', () => {
    const { manifests } = render(FORMS[4][1], [VALUES]);
    const changed = (kind: string, change: (object: any) => void): readonly string[] => {
      const object = structuredClone(manifests.find((one) => one.kind === kind)) as Manifest;
      change(object);
      return check(object);
    };
    expect(changed('Deployment', ({ spec }) => (spec.template.spec.containers[0].img = 'x'))).not.toEqual([]);
    expect(changed('Deployment', ({ spec }) => (spec.replicas = '2'))).not.toEqual([]);
    expect(changed('Job', ({ spec }) => delete spec.template)).not.toEqual([]);
    expect(changed('NetworkPolicy', ({ spec }) => (spec.egress = [{ port: [] }]))).not.toEqual([]);
    expect(changed('HTTPRoute', ({ spec }) => (spec.hostname = 'x'))).not.toEqual([]);
    expect(changed('ServiceMonitor', ({ spec }) => (spec.endpoints[0].every = '1s'))).not.toEqual([]);
    expect(changed('ExternalSecret', ({ spec }) => (spec.secretStoreRef.kind = 'Vault'))).not.toEqual([]);
    expect(changed('Service', (object) => (object.kind = 'Servis'))).toEqual(['nobody knows v1 Servis']);
  });
});
