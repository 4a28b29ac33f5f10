/**
 * Bundles the programs into dist/: the CLI, the scripted gateway and the testing interface as modules that share
 * chunks and leave packages to node_modules; the two programs that run inside a sandbox as one file each that needs
 * nothing but Node.
 * Owns the list of programs; must not install (scripts/setup.js) or run them.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { withLock } from './lock.js';
import { ROOT, setup } from './setup.js';
import { isFresh, listSources, STATS_FILE, statSources } from './sources.js';

/** Programs of the host: name in dist/ → source. */
const HOST_PROGRAMS = {
  parley: 'cli/main.ts',
  'scripted-gateway': 'scripted-gateway/main.ts',
  client: 'api/client/client.ts',
  testing: 'testing/index.ts',
  'testing-vitest': 'testing/vitest.ts',
  'time-skipping': 'temporal/time-skipping/main.ts',
};
/** Programs of a sandbox. CommonJS in one file: they are bound into a place without node_modules. */
const INSIDE_PROGRAMS = {
  'agent-server': 'agent/main.ts',
  'agent-openhands': 'agent/openhands/main.ts',
  'sandbox-init': 'runtimes/process/inside/init.ts',
};
/** The workflows' bundle: what a worker loads into Temporal's sandbox. */
const WORKFLOW_BUNDLE = 'workflows.bundle.js';
/** Says what the bundle was made by; a worker compares it with itself (cli/host/workflow-bundle.ts). */
const WORKFLOW_STAMP = 'workflows.bundle.json';
/** Loaded by path on both sides of the sandbox's wall, and therefore CommonJS. */
const LOADED_BY_PATH = { 'failure-converter': 'workflows/failure-converter.ts' };
/** Maps are written one folder below dist/ and moved up with their programs: a folder before each source undoes that. */
const SOURCE_ROOT = 'aside/';
/** A replaced chunk stays this long, because a program that is running may still load it. */
const OLD_CHUNK_MS = 60 * 60_000;

/**
 * Builds what is missing or older than its sources; returns true when something was built.
 * Two processes may call it at once: one builds, the other waits and finds it done.
 * @throws Error with the compiler's messages when a source does not compile
 */
export async function build() {
  if (isFresh(ROOT)) return false;
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  return await withLock(path.join(ROOT, 'dist', '.build.lock'), buildLocked);
}

async function buildLocked() {
  const stats = statSources(ROOT);
  const hash = hashSources();
  const stamp = readStamp();
  const built = stamp === null || stamp.hash !== hash || !stamp.files.every((file) => existsSync(dist(file)));
  const files = built ? await bundleAside() : stamp.files;
  replaceFile(dist('.build.json'), JSON.stringify({ hash, files }));
  replaceFile(path.join(ROOT, STATS_FILE), stats);
  return built;
}

/** SHA-256 over paths and contents: a file that was only touched builds nothing. */
function hashSources() {
  const hash = createHash('sha256');
  for (const file of listSources(ROOT)) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(ROOT, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

/** What the last build was made from and what it wrote; null when there was none. */
function readStamp() {
  try {
    return JSON.parse(readFileSync(dist('.build.json'), 'utf8'));
  } catch {
    return null;
  }
}

function replaceFile(file, text) {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

/** Writes into a folder of its own and renames file by file, so that a running program never reads half a file. */
async function bundleAside() {
  const aside = dist(`.aside-${process.pid}`);
  rmSync(aside, { recursive: true, force: true });
  try {
    await Promise.all([bundleHost(aside), bundleInside(aside), bundleByPath(aside)]);
    await bundleWorkflows(aside);
    const files = existsSync(aside) ? readdirSync(aside).sort(chunksFirst) : [];
    for (const file of files) renameSync(path.join(aside, file), dist(file));
    removeOldChunks(files);
    return files;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

async function bundleHost(outdir) {
  const entryPoints = existing(HOST_PROGRAMS);
  if (Object.keys(entryPoints).length === 0) return;
  await bundle({
    entryPoints,
    outdir,
    format: 'esm',
    splitting: true,
    packages: 'external',
    chunkNames: 'chunk-[name]-[hash]',
    sourceRoot: SOURCE_ROOT,
  });
}

async function bundleInside(outdir) {
  const entryPoints = existing(INSIDE_PROGRAMS);
  if (Object.keys(entryPoints).length === 0) return;
  await bundle({
    entryPoints,
    outdir,
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    sourceRoot: SOURCE_ROOT,
  });
}

async function bundleByPath(outdir) {
  const entryPoints = existing(LOADED_BY_PATH);
  if (Object.keys(entryPoints).length === 0) return;
  await bundle({
    entryPoints,
    outdir,
    format: 'cjs',
    packages: 'external',
    outExtension: { '.js': '.cjs' },
    sourceRoot: SOURCE_ROOT,
  });
}

/** Temporal's own bundler: nothing else knows what its sandbox needs. */
async function bundleWorkflows(outdir) {
  const workflowsPath = path.join(ROOT, 'workflows/index.ts');
  if (!existsSync(workflowsPath)) return;
  const { bundleWorkflowCode } = await import('@temporalio/worker');
  const silent = () => undefined;
  const logger = {
    log: silent,
    trace: silent,
    debug: silent,
    info: silent,
    warn: silent,
    error: console.error,
  };
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    failureConverterPath: path.join(ROOT, LOADED_BY_PATH['failure-converter']),
    logger,
  });
  writeFileSync(path.join(outdir, WORKFLOW_BUNDLE), code);
  const stamp = {
    program: versionIn(path.join(ROOT, 'package.json')),
    sdk: versionIn(path.join(ROOT, 'node_modules/@temporalio/worker/package.json')),
    hash: createHash('sha256').update(code).digest('hex'),
  };
  writeFileSync(path.join(outdir, WORKFLOW_STAMP), `${JSON.stringify(stamp)}\n`);
}

function versionIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

/** One esbuild call with what every bundle of the project has in common. */
export async function bundle(options) {
  const esbuild = await import('esbuild');
  await esbuild.build({
    absWorkingDir: ROOT,
    bundle: true,
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'error',
    ...options,
  });
}

/** Entries whose source exists. */
function existing(programs) {
  return Object.fromEntries(
    Object.entries(programs).filter(([, source]) => existsSync(path.join(ROOT, source))),
  );
}

/** Programs come last: once one is in place, every chunk it names is there. */
function chunksFirst(a, b) {
  return Number(b.startsWith('chunk-')) - Number(a.startsWith('chunk-')) || (a < b ? -1 : 1);
}

function removeOldChunks(current) {
  for (const file of readdirSync(dist(''))) {
    if (!file.startsWith('chunk-') || current.includes(file)) continue;
    if (Date.now() - statSync(dist(file)).mtimeMs > OLD_CHUNK_MS) rmSync(dist(file), { force: true });
  }
}

function dist(file) {
  return path.join(ROOT, 'dist', file);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  setup();
  const startedAt = Date.now();
  const built = await build();
  process.stderr.write(`parley: ${built ? `built in ${Date.now() - startedAt} ms` : 'nothing to build'}\n`);
}
