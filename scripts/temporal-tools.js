/**
 * Installs what the tests of the Temporal engine need, where it is missing: the Temporal CLI, built by Go, and the
 * server that skips time, from Maven. Everything goes into a cache outside the tree, and is there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isProgram, onPath } from './find-program.js';
import {
  goInstall,
  homeOf,
  installTool,
  mavenInstall,
  pomOf,
  runAsProgram,
  toolsFolder,
} from './tool-cache.js';

/** The newest version of the CLI that Go installs by its name; it holds server 1.29.1. */
const CLI_VERSION = 'v1.5.1';
const TEST_SERVER_VERSION = '1.37.0';

/** Resolved by Maven into the jars beside the program. */
const POM = pomOf('temporal-tools', {
  group: 'io.temporal',
  artifact: 'temporal-test-server',
  version: TEST_SERVER_VERSION,
});

/** Classes as they are once the server answers: loading them takes two thirds of its start. */
const CLASSES = 'classes.jsa';

/** One server for each scenario, alive for seconds: start fast, and stay small. An archive of another Java is ignored. */
const TEST_SERVER_PROGRAM = `#!/bin/sh
here="$(dirname "$0")"
archive="-Xshare:auto"
if [ -f "$here/${CLASSES}" ]; then archive="-XX:SharedArchiveFile=$here/${CLASSES}"; fi
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xlog:disable "$archive" -cp "$here/lib/*" io.temporal.testserver.TestServer "$@"
`;

/** How long a server may take until it answers, on a machine that is busy. */
const ANSWER_MS = 60_000;
const POLL_EVERY_MS = 50;

/** Where the test server is once it is installed; it takes a port as its argument. @param {NodeJS.ProcessEnv} env */
export function testServerProgram(env) {
  return path.join(toolsFolder(env), `temporal-test-server-${TEST_SERVER_VERSION}`, 'temporal-test-server');
}

/** Null when it is installed, else the sentence that says what is missing. @param {NodeJS.ProcessEnv} env */
export function testServerMissing(env) {
  if (!isProgram(testServerProgram(env))) return 'the time-skipping test server is not installed';
  return onPath('java', env) === null ? 'java is not installed' : null;
}

/** Installs both; resolves with one line for each that says how it went. @param {NodeJS.ProcessEnv} env */
export async function installTemporalTools(env) {
  return await Promise.all([installCli(env), installTestServer(env)]);
}

/** One line that says how it went. */
export async function installCli(env) {
  const tool = { name: 'Temporal CLI', there: cliProgram(env), folder: cliFolder(env) };
  return await installTool(tool, env, (target) =>
    goInstall(`github.com/temporalio/cli/cmd/temporal@${CLI_VERSION}`, target, env),
  );
}

async function installTestServer(env) {
  const program = testServerProgram(env);
  const there = testServerMissing(env) === null ? program : null;
  const tool = { name: 'time-skipping test server', there, folder: path.dirname(program) };
  const result = await installTool({ ...tool, needs: ['java', 'mvn'] }, env, async (target) => {
    writeFileSync(path.join(target, 'pom.xml'), POM);
    await mavenInstall(`io.temporal:temporal-test-server:${TEST_SERVER_VERSION}`, target, env);
    const file = path.join(target, path.basename(program));
    writeFileSync(file, TEST_SERVER_PROGRAM);
    chmodSync(file, 0o755);
  });
  if (result.ok) await archiveClasses(program, env);
  return result;
}

/**
 * Starts a server once and lets Java write down what it loaded. Without it servers start all the same, only slower, so
 * a failure is no failure of the installation.
 */
async function archiveClasses(program, env) {
  const archive = path.join(path.dirname(program), CLASSES);
  if (existsSync(archive)) return;
  const aside = `${archive}.${process.pid}`;
  const port = await freePort();
  const server = spawn(program, [String(port)], {
    env: { ...env, JAVA_TOOL_OPTIONS: `-XX:ArchiveClassesAtExit=${aside}` },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => server.once('close', resolve).once('error', resolve));
  const late = setTimeout(() => server.kill('SIGKILL'), ANSWER_MS);
  const isOver = ended.then(() => true);
  while (server.exitCode === null && !(await answers(port))) {
    if (await Promise.race([isOver, pause(POLL_EVERY_MS, false)])) break;
  }
  server.kill('SIGTERM');
  await ended;
  clearTimeout(late);
  if (!existsSync(aside)) return;
  renameSync(aside, archive);
  // The program of an earlier installation does not know of it; a server may be starting from it just now.
  const fresh = `${program}.${process.pid}`;
  writeFileSync(fresh, TEST_SERVER_PROGRAM, { mode: 0o755 });
  renameSync(fresh, program);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (value) => {
      socket.destroy();
      resolve(value);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

/** The places in which the product looks, too (temporal/dev-server/find-cli.ts). */
export function cliProgram(env) {
  if (env.PARLEY_TEMPORAL_CLI) return env.PARLEY_TEMPORAL_CLI;
  const goFolders = [
    env.GOBIN,
    env.GOPATH && path.join(env.GOPATH, 'bin'),
    path.join(homeOf(env), 'go', 'bin'),
  ];
  const files = [...goFolders, cliFolder(env)].filter(Boolean).map((folder) => path.join(folder, 'temporal'));
  return onPath('temporal', env) ?? files.find(isProgram) ?? null;
}

const cliFolder = (env) => path.join(toolsFolder(env), 'temporal-cli');

await runAsProgram(import.meta.url, 'temporal', installTemporalTools);
