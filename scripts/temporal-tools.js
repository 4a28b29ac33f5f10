/**
 * Installs what the tests of the Temporal engine need, where it is missing: the Temporal CLI, built by Go, and the
 * server that skips time, from Maven. Everything goes into a cache outside the tree, and is there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { runNetworkStep } from './run-quietly.js';
import { isProgram, onPath } from './find-program.js';
import { withLock } from './lock.js';

/** The newest version of the CLI that Go installs by its name; it holds server 1.29.1. */
const CLI_VERSION = 'v1.5.1';
const TEST_SERVER_VERSION = '1.37.0';

/** Resolved by Maven into the jars beside the program. */
const POM = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>parley</groupId>
  <artifactId>temporal-tools</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${TEST_SERVER_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

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

/** The cache: programs that belong to no deployment. */
export function toolsFolder(env) {
  return env.PARLEY_TOOLS_DIR || path.join(homeOf(env), '.cache', 'parley-tools');
}

function homeOf(env) {
  return env.HOME ?? os.homedir();
}

/** Where the test server is once it is installed; it takes a port as its argument. */
export function testServerProgram(env) {
  return path.join(toolsFolder(env), `temporal-test-server-${TEST_SERVER_VERSION}`, 'temporal-test-server');
}

/** Null when it is installed, else the sentence that says what is missing. */
export function testServerMissing(env) {
  if (!isProgram(testServerProgram(env))) return 'the time-skipping test server is not installed';
  return onPath('java', env) === null ? 'java is not installed' : null;
}

/** Installs both; resolves with one line for each that says how it went. */
export async function installTemporalTools(env) {
  mkdirSync(toolsFolder(env), { recursive: true });
  const lock = path.join(toolsFolder(env), '.lock');
  return await withLock(lock, () => Promise.all([installCli(env), installTestServer(env)]));
}

/** One line that says how it went. */
export async function installCli(env) {
  const name = 'Temporal CLI';
  const there = cliProgram(env);
  if (there !== null) return { name, ok: true, line: there };
  const go = onPath('go', env);
  if (go === null) return { name, ok: false, line: 'go is not installed' };
  const folder = path.join(toolsFolder(env), 'temporal-cli');
  return await aside(name, folder, async (target) => {
    const source = `github.com/temporalio/cli/cmd/temporal@${CLI_VERSION}`;
    await runNetworkStep(`go install ${source}`, go, ['install', source], { env: { ...env, GOBIN: target } });
  });
}

async function installTestServer(env) {
  const name = 'time-skipping test server';
  const missing = testServerMissing(env);
  const program = testServerProgram(env);
  if (missing === null) {
    await archiveClasses(program, env);
    return { name, ok: true, line: program };
  }
  const tools = ['java', 'mvn'].filter((tool) => onPath(tool, env) === null);
  if (tools.length > 0)
    return { name, ok: false, line: tools.map((tool) => `${tool} is not installed`).join(', ') };
  const result = await aside(name, path.dirname(program), async (target) => {
    writeFileSync(path.join(target, 'pom.xml'), POM);
    const args = ['-q', '-B', '-ntp', 'dependency:copy-dependencies', '-DoutputDirectory=lib'];
    const step = `mvn of io.temporal:temporal-test-server:${TEST_SERVER_VERSION}`;
    await runNetworkStep(step, 'mvn', args, { env, cwd: target });
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
    if (await Promise.race([isOver, pause(POLL_EVERY_MS)])) break;
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

function pause(ms) {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms));
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
  const cached = path.join(toolsFolder(env), 'temporal-cli');
  const files = [...goFolders, cached].filter(Boolean).map((folder) => path.join(folder, 'temporal'));
  return onPath('temporal', env) ?? files.find(isProgram) ?? null;
}

/** Fills a folder beside and renames it, so that what is there is whole. */
export async function aside(name, folder, fill) {
  const startedAt = Date.now();
  const target = `${folder}.new`;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  try {
    await fill(target);
    rmSync(folder, { recursive: true, force: true });
    renameSync(target, folder);
    return { name, ok: true, line: `installed in ${Math.round((Date.now() - startedAt) / 1000)} s` };
  } catch (error) {
    return { name, ok: false, line: error.message };
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const results = await installTemporalTools(process.env);
  for (const { name, ok, line } of results) {
    process.stderr.write(`parley: ${ok ? name : `Cannot install the ${name}`}: ${line}\n`);
  }
  if (process.env.CI === 'true' && results.some(({ ok }) => !ok)) process.exitCode = 1;
}
