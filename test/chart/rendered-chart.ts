/**
 * The chart as a cluster would get it.
 * Owns running Helm and taking its output apart; what must be true of it is in the tests.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { loadAll } from 'js-yaml';
import { installedHelm } from '../../scripts/helm-tool.js';
import { tempDir } from '../helpers/temp-dir.ts';

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

/** Files in a bucket of a server on a port of its own, with an access key. */
export const BUCKET = [
  ...[...TEMPORAL, 'store.s3.bucket=results', 'store.s3.endpoint=https://s3.test:9000'],
  'store.s3.accessKeySecret.name=access',
];

/** Proxies with a database in common. */
export const SHARED = ['proxy.store.urlSecret.name=spend'];

/** Three workers and two proxies. */
export const MANY = [...BUCKET, ...SHARED, 'worker.replicas=3', 'proxy.replicas=2', 'api.replicas=2'];

/** Everything that can be switched on. */
export const ALL = [
  ...['api.autoscaling.enabled=true', 'ingress.enabled=true', 'ingress.hosts={parley.test}'],
  ...['gateway.enabled=true', 'gateway.parentRefs[0].name=front', 'gateway.hostnames={parley.test}'],
  ...['serviceMonitor.enabled=true', 'externalSecrets.enabled=true', 'externalSecrets.storeRef.name=vault'],
  ...['externalSecrets.remote.seal=kv/seal', 'externalSecrets.remote.gateway=kv/gateway'],
  ...['externalSecrets.remote.database=kv/database', 'externalSecrets.remote.engineKey=kv/engine'],
];
export const FORMS = [
  ['embedded, SQLite', []],
  ['embedded, PostgreSQL', ['store.kind=postgres', 'store.urlSecret.name=database']],
  ['Temporal, PostgreSQL', TEMPORAL],
  ['with an allow-list', ['sandboxes.egress={code_hosts}']],
  ['with all that there is', [...TEMPORAL, ...ALL]],
  ['with a bucket', BUCKET],
  ['several of each', MANY],
] as const;

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

interface Otherwise {
  readonly chart?: string;
  /** One value by its path; it wins over what is given. */
  readonly changed?: readonly [path: string, value: unknown];
}

/** By the words that Helm was called with: many values are compared with the same others. */
const rendered = new Map<string, Rendering>();

/** `given`: `--set` values; `files`: files of values, or values as an object. Callers must not change the result. */
export function render(
  given: readonly string[] = [],
  files: readonly (string | object)[] = [],
  { chart = CHART, changed }: Otherwise = {},
): Rendering {
  const isOther = (one: string): boolean =>
    changed === undefined || !['=', '[', '.'].some((end) => one.startsWith(`${changed[0]}${end}`));
  const values = [...GIVEN, ...given].filter(isOther).flatMap((one) => ['--set', one]);
  if (changed !== undefined) values.push('--set-json', `${changed[0]}=${JSON.stringify(changed[1])}`);
  const named = files.flatMap((file) => ['--values', typeof file === 'string' ? file : valuesFile(file)]);
  const words = [
    ...['template', 'rel', chart, '--namespace', 'parley', '--kube-version', CLUSTER],
    ...[...named, ...values],
  ];
  const known = rendered.get(words.join('\0'));
  if (known !== undefined) return known;
  const { status, stdout, stderr } = helm(words);
  const manifests = status === 0 ? (loadAll(stdout) as (Manifest | null)[]) : [];
  const rendering = { code: status, stderr, manifests: manifests.filter((one) => one !== null) };
  rendered.set(words.join('\0'), rendering);
  return rendering;
}

function valuesFile(values: object): string {
  const file = path.join(tempDir(), 'values.json');
  writeFileSync(file, JSON.stringify(values));
  return file;
}

/** What Helm says after an installation; a template of its own in a copy, because Helm shows it to a cluster only. */
export function notes(given: readonly string[] = [], files: readonly (string | object)[] = []): string {
  const copy = path.join(tempDir(), 'chart');
  cpSync(CHART, copy, { recursive: true });
  renameSync(path.join(copy, 'templates/NOTES.txt'), path.join(copy, 'notes.txt'));
  writeFileSync(
    path.join(copy, 'templates/notes.yaml'),
    'kind: Notes\nmetadata: { name: notes }\ntext: {{ tpl (.Files.Get "notes.txt") . | toJson }}\n',
  );
  const { manifests, stderr } = render(given, files, { chart: copy });
  const found = manifests.find(({ kind }) => kind === 'Notes');
  if (found === undefined) throw new Error(stderr);
  return String(found['text']);
}

export function lint(given: readonly string[] = []): Rendering {
  const values = [...GIVEN, ...given].flatMap((one) => ['--set', one]);
  const { status, stdout, stderr } = helm(['lint', CHART, '--strict', '--kube-version', CLUSTER, ...values]);
  return { code: status, stderr: `${stdout}${stderr}`, manifests: [] };
}

/** The pods that the manifests make, by the name of what makes them without the mark of its content. */
export function podsOf(manifests: readonly Manifest[]): ReadonlyMap<string, PodSpec> {
  return new Map(
    manifests.flatMap(({ kind, metadata, spec }) => {
      if (kind !== 'StatefulSet' && kind !== 'Deployment' && kind !== 'Job') return [];
      const name = metadata.name.replace(/-[0-9a-f]{8}$/, '');
      return [[name, (spec as { readonly template: { readonly spec: PodSpec } }).template.spec] as const];
    }),
  );
}

function helm(args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(installedHelm(process.env) ?? 'helm', args, { encoding: 'utf8' });
}
