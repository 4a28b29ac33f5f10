/**
 * Bundles the programs into dist/: the CLI, the scripted gateway and the testing interface as modules that share
 * chunks and leave all but a few packages to node_modules; the programs that run inside a sandbox as one file each
 * that needs nothing but Node. Licences of bundled packages are put beside them.
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
import { buildWeb, hashOf, lacksConsole } from './build-web.js';
import { bundle, ENGLISH_ONLY } from './bundle.js';
import { keepCompiled } from './keep-compiled.js';
import { withLock } from './lock.js';
import { isInstalled, ROOT, setup } from './setup.js';
import { isFresh, listSources, STATS_FILE, statSources } from './sources.js';

/** Programs of the host: name in dist/ → source. */
const HOST_PROGRAMS = {
  parley: 'cli/main.ts',
  'scripted-gateway': 'scripted-gateway/main.ts',
  client: 'api/client/client.ts',
  testing: 'testing/index.ts',
  'testing-vitest': 'testing/vitest.ts',
  'time-skipping': 'testing/temporal/main.ts',
  'export-reader': 'clients/gateway/export-reader.ts',
  'plan-player': 'cli/simulate/plan-player.ts',
};
/** Programs of a sandbox. CommonJS in one file: they are bound into a place without node_modules. */
const INSIDE_PROGRAMS = {
  'agent-server': 'agent/main.ts',
  'agent-openhands': 'agent/openhands/main.ts',
  'sandbox-init': 'runtimes/process/inside/init.ts',
  'workspace-reader': 'runtimes/kubernetes/reader/main.ts',
};
/** The workflows' bundle: what a worker loads into Temporal's sandbox. */
const WORKFLOW_BUNDLE = 'workflows.bundle.js';
/** What makes it. */
const WORKFLOW_BUNDLER = '@temporalio/worker';
/** Says what the bundle was made by; a worker compares it with itself (host/engines/workflow-bundle.ts). */
const WORKFLOW_STAMP = 'workflows.bundle.json';
/** Loaded by path on both sides of the sandbox's wall, and therefore CommonJS. */
const LOADED_BY_PATH = { 'failure-converter': 'workflows/failure-converter.ts' };
/**
 * Packages that stand before every command. Bundled, they are a few files in place of a hundred, which is a seventh of
 * what `parley validate` takes from a cold start. All others are loaded from node_modules, and only when needed.
 */
const BUNDLED_PACKAGES = ['@marcbachmann/cel-js', 'commander', 'yaml', 'zod'];
/** The same parser as modules: what nothing calls is left out, and nothing is wrapped. */
const AS_MODULES = { yaml: './node_modules/yaml/browser/index.js' };
/** A bundled package of CommonJS requires only parts of Node, and a module has no `require` of its own. */
const REQUIRE_OF_NODE =
  "import { createRequire as parleyCreateRequire } from 'node:module'; const require = parleyCreateRequire(import.meta.url);";
/** The terms of the packages whose code is in dist/. */
const LICENCES_FILE = 'licences.txt';
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
  if (isFresh(ROOT) && !lacksWorkflows() && !lacksConsole()) return false;
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  return await withLock(path.join(ROOT, 'dist', '.build.lock'), buildLocked);
}

async function buildLocked() {
  const stats = statSources(ROOT);
  // A file that was only touched builds nothing. The console has a stamp of its own.
  const hash = hashOf(listSources(ROOT).filter((file) => !file.startsWith('web/')));
  const stamp = readStamp();
  const isKept = stamp?.hash === hash && stamp.files.every((file) => existsSync(dist(file)));
  const built = !isKept || lacksWorkflows();
  const files = built ? await bundleAside() : stamp.files;
  const isWebBuilt = await buildWeb();
  replaceFile(dist('.build.json'), JSON.stringify({ hash, files }));
  replaceFile(path.join(ROOT, STATS_FILE), stats);
  return built || isWebBuilt;
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
    const inputs = await Promise.all([bundleHost(aside), bundleInside(aside), bundleByPath(aside)]);
    const agent = path.join(aside, 'agent-server.cjs');
    if (existsSync(agent)) await keepCompiled(agent);
    writeLicences(aside, inputs.flat());
    await bundleWorkflows(aside);
    const files = existsSync(aside) ? readdirSync(aside).sort(chunksFirst) : [];
    for (const file of files) renameSync(path.join(aside, file), dist(file));
    removeOldChunks(files);
    return files;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** Those programs of a list that are there. */
async function bundlePrograms(programs, outdir, options) {
  const entryPoints = existing(programs);
  if (Object.keys(entryPoints).length === 0) return [];
  return await bundle({ entryPoints, outdir, sourceRoot: SOURCE_ROOT, ...options });
}

const COMMON_JS = { format: 'cjs', outExtension: { '.js': '.cjs' } };

const bundleHost = (outdir) =>
  bundlePrograms(HOST_PROGRAMS, outdir, {
    format: 'esm',
    splitting: true,
    external: loadedPackages(),
    alias: AS_MODULES,
    plugins: [ENGLISH_ONLY],
    banner: { js: REQUIRE_OF_NODE },
    chunkNames: 'chunk-[name]-[hash]',
  });

const bundleInside = (outdir) =>
  // Kept code cannot import a module later; `require` does the same for what is there anyway.
  bundlePrograms(INSIDE_PROGRAMS, outdir, {
    ...COMMON_JS,
    plugins: [ENGLISH_ONLY],
    supported: { 'dynamic-import': false },
  });

const bundleByPath = (outdir) =>
  bundlePrograms(LOADED_BY_PATH, outdir, { ...COMMON_JS, packages: 'external' });

/** True when the bundler was installed after the last build, as when a checkout that was only used is developed. */
function lacksWorkflows() {
  return isInstalled(WORKFLOW_BUNDLER) && !existsSync(dist(WORKFLOW_BUNDLE));
}

/**
 * Temporal's own bundler: nothing else knows what its sandbox needs. Where it is not installed no worker can load a
 * bundle, and an older one must not stay.
 */
async function bundleWorkflows(outdir) {
  const workflowsPath = path.join(ROOT, 'workflows/index.ts');
  if (!existsSync(workflowsPath)) return;
  if (!isInstalled(WORKFLOW_BUNDLER)) {
    for (const file of [WORKFLOW_BUNDLE, WORKFLOW_STAMP]) rmSync(dist(file), { force: true });
    return;
  }
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    failureConverterPath: path.join(ROOT, LOADED_BY_PATH['failure-converter']),
    logger: new DefaultLogger('ERROR'),
    webpackConfigHook: compact,
  });
  writeFileSync(path.join(outdir, WORKFLOW_BUNDLE), code);
  const stamp = {
    program: versionIn(path.join(ROOT, 'package.json')),
    sdk: versionIn(path.join(ROOT, 'node_modules/@temporalio/worker/package.json')),
    hash: createHash('sha256').update(code).digest('hex'),
  };
  writeFileSync(path.join(outdir, WORKFLOW_STAMP), `${JSON.stringify(stamp)}\n`);
}

/** Each thread of a worker loads the bundle, so it has no comments; its source map still says where code stood. */
function compact(config) {
  for (const { use } of config.module.rules.filter(({ test }) => test.test('a.ts'))) {
    use.options.minify = true;
    use.options.jsc.minify = { compress: false, mangle: false, format: { comments: false } };
  }
  return config;
}

function versionIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

/** Packages of package.json that the host's programs load from node_modules. */
function loadedPackages() {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  return Object.keys({ ...dependencies, ...devDependencies })
    .filter((name) => !BUNDLED_PACKAGES.includes(name))
    .flatMap((name) => [name, `${name}/*`]);
}

/** Writes the licence of every package that is among the inputs of a bundle. */
function writeLicences(outdir, inputs) {
  const folders = new Set(inputs.map((file) => PACKAGE_FOLDER.exec(file)?.[0]).filter(Boolean));
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8'),
    );
    const file = readdirSync(path.join(ROOT, folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const terms = file === undefined ? '' : readFileSync(path.join(ROOT, folder, file), 'utf8');
    return `${name} ${version} (${license})\n\n${terms.trim()}\n`;
  });
  if (texts.length > 0)
    writeFileSync(path.join(outdir, LICENCES_FILE), texts.join(`\n${'-'.repeat(80)}\n\n`));
}

/** The innermost package of a path, with its scope. */
const PACKAGE_FOLDER = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;

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
