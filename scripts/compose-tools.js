/**
 * Installs what the test of temporal-compose.yml needs, where it is missing, with Go: Docker's `compose`, and the
 * programs of the images that cannot be pulled everywhere, Temporal's server with its schema tool and its CLI, and its web
 * UI. They go into the cache of the other tools, and are there the next time.
 * Plain JavaScript without a dependency, as the other installers are; must not choose a registry. The first build takes
 * many minutes, so nothing asks for it unasked: `npm run compose:local` does.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { runNetworkStep } from './run-quietly.js';
import { cliProgram, installCli } from './temporal-tools.js';
import { foldersOf, goInstall, installParts, runAsProgram } from './tool-cache.js';

/** The modules; temporal-compose.yml names the images of the same versions. */
const COMPOSE_VERSION = 'v2.40.3';
export const SERVER_VERSION = 'v1.29.1';
export const UI_VERSION = 'v2.42.1';

const COMPOSE = 'github.com/docker/compose/v2';
const SERVER = 'go.temporal.io/server';
const UI = 'github.com/temporalio/ui-server/v2';

/** What is made: name in the cache, and how. */
const PARTS = [
  {
    name: `temporal-server-${SERVER_VERSION}`,
    programs: ['temporal-server', 'temporal-sql-tool'],
    make: buildServer,
  },
  { name: `temporal-ui-${UI_VERSION}`, programs: ['ui-server'], make: buildUi },
  { name: `compose-${COMPOSE_VERSION}`, programs: ['docker-compose'], make: buildCompose },
];

/** Folders of programs, and `cli`, the program that a health check asks. @typedef {Record<'compose' | 'server' | 'ui' | 'cli', string>} ComposeTools */

/**
 * Folders of the three, and Temporal's CLI; null when one of them is missing.
 * @type {(env: NodeJS.ProcessEnv) => ComposeTools | null}
 */
export function installedComposeTools(env) {
  const folders = foldersOf(PARTS, env);
  const cli = cliProgram(env);
  if (folders.includes(null) || cli === null) return null;
  const [server, ui, compose] = folders;
  return { compose, server, ui, cli };
}

/** Its module has replacements and so refuses to be installed by its name: it is built where it lies, as a copy. */
async function buildCompose(work, env) {
  const source = path.join(work, 'source');
  await copyModule({ module: `${COMPOSE}@${COMPOSE_VERSION}`, target: source, env });
  const version = `-X ${COMPOSE}/internal.Version=${COMPOSE_VERSION}`;
  const flags = ['-trimpath', '-ldflags', `-s -w ${version}`, '-o', path.join(work, 'docker-compose')];
  await runNetworkStep('go build of docker compose', 'go', ['build', ...flags, './cmd'], {
    env,
    cwd: source,
  });
  rmSync(source, { recursive: true });
}

/** The server as its image has it: two programs, the configuration by variables, and the schemas. */
async function buildServer(work, env) {
  const source = `${SERVER}/cmd`;
  await installProgram(`${source}/server@${SERVER_VERSION}`, path.join(work, 'temporal-server'), env);
  await installProgram(`${source}/tools/sql@${SERVER_VERSION}`, path.join(work, 'temporal-sql-tool'), env);
  const module = `${SERVER}@${SERVER_VERSION}`;
  for (const part of ['config', 'schema/postgresql'])
    await copyModule({ module, part, target: path.join(work, part), env });
}

async function buildUi(work, env) {
  await installProgram(`${UI}/cmd/server@${UI_VERSION}`, path.join(work, 'ui-server'), env);
}

/** What Go installs is called after its folder. */
async function installProgram(source, target, env) {
  const bin = `${target}.bin`;
  mkdirSync(bin);
  await goInstall(source, bin, env, ['-ldflags', '-s -w']);
  renameSync(path.join(bin, readdirSync(bin)[0]), target);
  rmSync(bin, { recursive: true });
}

/** A module of the cache of Go, or a part of one, as files that may be changed. */
export async function copyModule({ module, part = '.', target, env }) {
  const cwd = path.dirname(target);
  mkdirSync(cwd, { recursive: true });
  await runNetworkStep(`go mod download ${module}`, 'go', ['mod', 'download', module], { env, cwd });
  const told = execFileSync('go', ['mod', 'download', '-json', module], { env, cwd, encoding: 'utf8' });
  cpSync(path.join(JSON.parse(told).Dir, part), target, { recursive: true });
  makeWritable(target);
}

function makeWritable(file) {
  chmodSync(file, statSync(file).mode | 0o200);
  if (!statSync(file).isDirectory()) return;
  for (const entry of readdirSync(file)) makeWritable(path.join(file, entry));
}

const install = async (env) => [await installCli(env), ...(await installParts(PARTS, env))];

await runAsProgram(import.meta.url, 'compose', install, true);
