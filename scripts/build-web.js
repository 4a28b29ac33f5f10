/**
 * Builds the console of web/ into dist/web, when a source of it is newer than what is there.
 * Owns the bundler's settings; must not know where the console is served.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isInstalled, ROOT } from './setup.js';

const SOURCE = path.join(ROOT, 'web');
const TARGET = path.join(ROOT, 'dist', 'web');
/** Says what the console was built from; not a page, and never served. */
const STAMP = path.join(TARGET, '.stamp');
/** What the console takes from elsewhere, and what decides how it is built. */
const BESIDE = ['api/client', 'package-lock.json', 'scripts/build-web.js'];
/** The terms of the packages whose code is in it. */
const LICENCES_FILE = 'licences.md';
const BUNDLER = 'vite';
/** Below this the API serves it. */
const BASE = '/console/';

/** True when the bundler was installed after the last build. */
export function lacksConsole() {
  return existsSync(SOURCE) && isInstalled(BUNDLER) && !existsSync(STAMP);
}

/** True when it was built; without its bundler there is none. @throws Error with the compiler's messages */
export async function buildWeb() {
  if (!existsSync(SOURCE)) return false;
  if (!isInstalled(BUNDLER)) {
    rmSync(TARGET, { recursive: true, force: true });
    return false;
  }
  const hash = hashOf(['web', ...BESIDE].flatMap(filesOf).sort());
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) return false;
  const aside = `${TARGET}.aside-${process.pid}`;
  try {
    await forProduction(() => bundle(aside));
    writeFileSync(path.join(aside, '.stamp'), hash);
    rmSync(TARGET, { recursive: true, force: true });
    renameSync(aside, TARGET);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return true;
}

/** A test may run the build, and the bundler would then take the packages as they are for development. */
async function forProduction(work) {
  const { env } = process;
  const before = env.NODE_ENV;
  env.NODE_ENV = 'production';
  try {
    await work();
  } finally {
    if (before === undefined) delete env.NODE_ENV;
    else env.NODE_ENV = before;
  }
}

async function bundle(outDir) {
  const { build } = await import('vite');
  const { default: react } = await import('@vitejs/plugin-react');
  await build({
    root: SOURCE,
    base: BASE,
    configFile: false,
    envFile: false,
    logLevel: 'error',
    plugins: [react()],
    build: {
      outDir,
      emptyOutDir: true,
      // Every file has an address of its own: the policy of the page allows no inline files.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      license: { fileName: LICENCES_FILE },
      target: 'es2022',
    },
  });
}

/** SHA-256 over paths, from the root, and contents. */
export function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(ROOT, file)))
      .update('\0');
  return hash.digest('hex');
}

/** Paths from the root, of a file or of all below a folder. */
function filesOf(name) {
  const full = path.join(ROOT, name);
  if (!existsSync(full)) return [];
  if (path.extname(name) !== '') return [name];
  return readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
}
