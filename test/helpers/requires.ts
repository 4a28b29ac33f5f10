/**
 * Tests that need a tool the machine may not have.
 * Owns the probes and what happens when one fails: skipped with a reason that `npm test` prints, or, under CI=true and
 * unless it is optional, a failing test. Must not be used to hide a failure: a probe asks only whether the tool works at all.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { describe, it } from 'vitest';
import { dockerdMissing } from '../../scripts/docker-daemon.ts';
import { acpAgentsMissing } from '../../scripts/acp-agents.js';
import { ciToolsMissing } from '../../scripts/ci-tools.js';
import { clientGeneratorsMissing } from '../../scripts/client-generators.js';
import { clusterMissing } from '../../scripts/cluster-tools.js';
import { installedComposeTools } from '../../scripts/compose-tools.js';
import { installedGitea } from '../../scripts/gitea-tool.js';
import { installedHelm } from '../../scripts/helm-tool.js';
import { installedKubernetes } from '../../scripts/kubernetes-tools.js';
import { isInHistory, lastReleaseMissing } from '../../scripts/last-release.js';
import { installedObjectSchemas } from '../../scripts/object-schemas.js';
import { postgresMissing } from '../../scripts/postgres-server.ts';
import { installedS3Server } from '../../scripts/s3-server.js';
import { pythonPeerMissing } from './python-peers.ts';
import { PROBE_MS, temporalCliMissing, timeSkippingServerMissing } from './temporal-tools.ts';

export type Tool =
  | 'bwrap'
  | 'chromium'
  | 'docker'
  | 'dockerd'
  | 'acp-agents'
  | 'ci-tools'
  | 'client-generators'
  | 'cluster-local'
  | 'compose-local'
  | 'gitea'
  | 'helm'
  | 'history'
  | 'k8s-local'
  | 'last-release'
  | 'object-schemas'
  | 'postgres'
  | 's3-server'
  | 'temporal'
  | 'temporal-test-server'
  | 'litellm'
  | 'schemathesis'
  | 'openhands'
  | 'python'
  | 'git'
  | 'git-lfs'
  | 'mount'
  | 'network'
  | 'java'
  | 'curl'
  | 'openssl'
  | 'registry';

/** The last commit before the folders were laid out anew. */
export const COMMIT_BEFORE_MOVES = '78aed4b0174dd5ca9eb386cbdc4f9cce98b964c5';

/**
 * Too long to build for every machine that tests, or not in a shallow clone: named when they are missing, and no failure
 * under CI=true either.
 */
const OPTIONAL: ReadonlySet<Tool> = new Set([
  'cluster-local',
  'compose-local',
  'gitea',
  'history',
  'k8s-local',
  'last-release',
]);

/** Tools that are looked for in more places than the search path. */
const FINDERS: Partial<Readonly<Record<Tool, () => string | null>>> = {
  temporal: temporalCliMissing,
  'temporal-test-server': timeSkippingServerMissing,
  dockerd: dockerdMissing,
  helm: () =>
    installedHelm(process.env) === null
      ? 'Helm is not installed; install it with "node scripts/helm-tool.js"'
      : null,
  'object-schemas': () =>
    installedHelm(process.env) === null || installedObjectSchemas(process.env) === null
      ? 'schemas of objects, or Helm, are missing; "node scripts/object-schemas.js" and "node scripts/helm-tool.js" fetch them'
      : null,
  gitea: () =>
    installedGitea(process.env) === null
      ? 'Gitea is not installed; install it with "node scripts/gitea-tool.js"'
      : null,
  's3-server': () =>
    installedS3Server(process.env) === null && dockerdMissing() !== null
      ? 'a server of S3 is not installed; install it with "node scripts/s3-server.js"'
      : null,
  'acp-agents': () => {
    const reason = acpAgentsMissing(process.env);
    return reason && `${reason}; install with "node scripts/acp-agents.js"`;
  },
  'ci-tools': () => {
    const reason = ciToolsMissing(process.env);
    return reason && `${reason}; install with "node scripts/ci-tools.js"`;
  },
  'client-generators': () => {
    const reason = clientGeneratorsMissing(process.env);
    return reason && `${reason}; install them with "node scripts/client-generators.js"`;
  },
  'cluster-local': () => clusterMissing(process.env),
  'compose-local': () =>
    installedComposeTools(process.env) === null
      ? 'the programs of temporal-compose.yml were not built here; "npm run compose:local" builds them'
      : null,
  'k8s-local': () =>
    installedKubernetes(process.env) === null
      ? 'no API server of Kubernetes was built here; "npm run k8s:local" builds one'
      : null,
  history: () =>
    isInHistory(COMMIT_BEFORE_MOVES)
      ? null
      : `the commit ${COMMIT_BEFORE_MOVES.slice(0, 12)} is not in this clone; "git fetch --unshallow" brings it`,
  'last-release': () => lastReleaseMissing(process.env),
  postgres: postgresMissing,
  java: javaMissing,
  litellm: () => pythonPeerMissing('litellm'),
  schemathesis: () => pythonPeerMissing('schemathesis'),
  openhands: () => pythonPeerMissing('openhands'),
};

const PROBES: Partial<Readonly<Record<Tool, readonly string[]>>> = {
  bwrap: ['bwrap', '--unshare-all', '--ro-bind', '/', '/', 'true'],
  chromium: ['chromium', '--version'],
  docker: ['docker', 'version', '--format', '{{.Server.Version}}'],
  python: ['python3', '--version'],
  git: ['git', '--version'],
  'git-lfs': ['git', 'lfs', 'version'],
  mount: ['unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'],
  network: ['unshare', '--net', 'ip', 'link', 'set', 'lo', 'up'],
  curl: ['curl', '--version'],
  openssl: ['openssl', 'version'],
  registry: ['npm', 'view', 'yaml@2.9.1', 'version'],
};

/** A program of one file is compiled as it is run, which not every runtime can. */
function javaMissing(): string | null {
  const { status, stdout } = spawnSync('java', ['--list-modules'], {
    encoding: 'utf8',
    timeout: PROBE_MS,
  });
  if (status !== 0) return 'no Java of version 11 or later is installed';
  return stdout.includes('jdk.compiler') ? null : 'the Java that is installed has no compiler';
}

/** Why `tool` cannot be used here, as a sentence; null when it can. */
export function missing(tool: Tool): string | null {
  const find = FINDERS[tool];
  if (find !== undefined) return find();
  const [command = tool, ...args] = PROBES[tool] ?? [];
  const result = spawnSync(command, args, { encoding: 'utf8', timeout: PROBE_MS });
  if (result.status === 0) return null;
  if (result.error !== undefined && 'code' in result.error && result.error.code === 'ENOENT') {
    return `${tool} is not installed`;
  }
  const said = (result.stderr ?? '').trim().split('\n').at(-1) ?? '';
  return `${tool} does not work here: ${said === '' ? `exit code ${result.status}` : said}`;
}

/** How a group of tests is registered, given why its tool is missing (null: it is not) and whether it must be there. */
export function planGroup(reason: string | null, isRequired: boolean): 'run' | 'skip' | 'fail' {
  if (reason === null) return 'run';
  return isRequired ? 'fail' : 'skip';
}

/** `describe` for tests that need `tool`. */
export function describeWith(tool: Tool, name: string, body: () => void): void {
  const reason = missing(tool);
  const isOptional = OPTIONAL.has(tool);
  switch (planGroup(reason, process.env['CI'] === 'true' && !isOptional)) {
    case 'run':
      describe(name, body);
      return;
    case 'skip':
      recordSkip({ tool, name, reason: reason ?? '', isOptional });
      describe.skip(name, body);
      return;
    case 'fail':
      describe(name, () => {
        it(`has ${tool}`, () => {
          throw new Error(`Cannot run "${name}": ${reason ?? ''}`);
        });
      });
  }
}

interface Skip {
  readonly tool: Tool;
  readonly name: string;
  readonly reason: string;
  readonly isOptional: boolean;
}

/** One line for `npm test`; without it (a bare vitest run) the skip shows in vitest's own output only. */
function recordSkip(skip: Skip): void {
  const file = process.env['PARLEY_TEST_SKIPS'];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(skip)}\n`);
}
