/**
 * Installs Versity's S3 gateway with Go, where it is missing: a real server of S3's protocol over a folder, on which the
 * tests of blobs and results run. It goes into the cache of the other tools, and is there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isProgram, onPath } from './find-program.js';
import { withLock } from './lock.js';
import { runNetworkStep } from './run-quietly.js';
import { aside, toolsFolder } from './temporal-tools.js';

const VERSION = 'v1.8.0';
const NAME = 'the server of S3';

/** On the path, or in the cache; null when it is neither. */
export function installedS3Server(env) {
  const cached = path.join(folderOf(env), 'versitygw');
  return onPath('versitygw', env) ?? (isProgram(cached) ? cached : null);
}

const folderOf = (env) => path.join(toolsFolder(env), `versitygw-${VERSION}`);

/** Installs it; resolves with a line that says how it went. */
export async function installS3Server(env) {
  mkdirSync(toolsFolder(env), { recursive: true });
  return await withLock(path.join(toolsFolder(env), '.s3-server.lock'), () => install(env));
}

async function install(env) {
  const there = installedS3Server(env);
  if (there !== null) return { name: NAME, ok: true, line: there };
  const go = onPath('go', env);
  if (go === null) return { name: NAME, ok: false, line: 'go is not installed' };
  return await aside(NAME, folderOf(env), async (target) => {
    const source = `github.com/versity/versitygw/cmd/versitygw@${VERSION}`;
    await runNetworkStep(`go install ${source}`, go, ['install', source], { env: { ...env, GOBIN: target } });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { name, ok, line } = await installS3Server(process.env);
  process.stderr.write(`parley: ${ok ? name : `Cannot install ${name}`}: ${line}\n`);
  if (process.env.CI === 'true' && !ok) process.exitCode = 1;
}
