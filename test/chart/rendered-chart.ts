/**
 * The chart as a cluster would get it.
 * Owns running Helm and taking its output apart; what must be true of it is in the tests.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { installedHelm } from '../../scripts/helm-tool.js';

const CHART = path.resolve(import.meta.dirname, '../../chart');
const DIGEST = `sha256:${'0'.repeat(64)}`;
/** Helm built from its module knows no cluster, and takes it for an old one. */
const CLUSTER = '1.34.0';
const GIVEN = [`image.digest=${DIGEST}`, `sandboxes.image=registry.test/sandbox@${DIGEST}`];
/** Engine and store as processes of their own. */
export const TEMPORAL = [
  ...['engine.kind=temporal', 'engine.temporal.address=temporal.test:7233', 'store.kind=postgres'],
  ...['store.urlSecret.name=database', 'seal.secretName=seal'],
];

export interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [key: string]: unknown;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly valueFrom?: { readonly secretKeyRef: SecretKey };
  }[];
  readonly resources?: Readonly<Record<'limits' | 'requests', Readonly<Record<string, string>>>>;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly [probe: string]: unknown;
}

export interface SecretKey {
  readonly name: string;
  readonly key: string;
}

export interface PodSpec {
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly Container[];
  readonly volumes: readonly Readonly<Record<string, unknown>>[];
}

export interface Rendering {
  readonly code: number | null;
  readonly stderr: string;
  readonly manifests: readonly Manifest[];
}

/** `given`: `--set` values; `files`: files of values. */
export function render(given: readonly string[] = [], files: readonly string[] = []): Rendering {
  const values = [...GIVEN, ...given].flatMap((one) => ['--set', one]);
  const named = files.flatMap((file) => ['--values', file]);
  const args = [
    'template',
    'rel',
    CHART,
    '--namespace',
    'parley',
    '--kube-version',
    CLUSTER,
    ...named,
    ...values,
  ];
  const { status, stdout, stderr } = helm(args);
  const manifests = status === 0 ? parseAllDocuments(stdout).map((one) => one.toJS() as Manifest | null) : [];
  return { code: status, stderr, manifests: manifests.filter((one) => one !== null) };
}

export function lint(given: readonly string[] = []): Rendering {
  const values = [...GIVEN, ...given].flatMap((one) => ['--set', one]);
  const { status, stdout, stderr } = helm(['lint', CHART, '--strict', '--kube-version', CLUSTER, ...values]);
  return { code: status, stderr: `${stdout}${stderr}`, manifests: [] };
}

/** The pods that the manifests make, by the name of what makes them. */
export function podsOf(manifests: readonly Manifest[]): ReadonlyMap<string, PodSpec> {
  return new Map(
    manifests.flatMap(({ kind, metadata, spec }) => {
      if (kind !== 'StatefulSet' && kind !== 'Deployment' && kind !== 'Job') return [];
      return [
        [metadata.name, (spec as { readonly template: { readonly spec: PodSpec } }).template.spec] as const,
      ];
    }),
  );
}

function helm(args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(installedHelm(process.env) ?? 'helm', args, { encoding: 'utf8' });
}
