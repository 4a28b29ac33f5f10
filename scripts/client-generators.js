/**
 * Installs two generators of clients, where they are missing: `openapi-typescript` from npm and `openapi-generator` from
 * Maven. Tests let each read the OpenAPI document, and compile and use what it writes. They go into the cache outside
 * the tree, and are there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { onPath } from './find-program.js';
import { withLock } from './lock.js';
import { runNetworkStep } from './run-quietly.js';
import { aside, toolsFolder } from './temporal-tools.js';

const TYPESCRIPT_VERSION = '7.13.0';
/** The client that its types are made for. */
const FETCH_VERSION = '0.17.0';
const JAR_VERSION = '7.24.0';

/** The jar alone: what it depends on is in it. */
const POM = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>parley</groupId>
  <artifactId>client-generators</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.openapitools</groupId>
      <artifactId>openapi-generator-cli</artifactId>
      <version>${JAR_VERSION}</version>
      <exclusions>
        <exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>
      </exclusions>
    </dependency>
  </dependencies>
</project>
`;

/** What the Go that it writes needs beside Go. */
const GO_MODULE = `module parley

go 1.21

require gopkg.in/validator.v2 v2.0.1
`;

/** Where the packages of npm are: beside them a program finds both by name. */
export function typescriptGenerator(env) {
  const folder = path.join(toolsFolder(env), `openapi-typescript-${TYPESCRIPT_VERSION}-${FETCH_VERSION}`);
  const modules = path.join(folder, 'node_modules');
  return { folder, modules, program: path.join(modules, 'openapi-typescript', 'bin', 'cli.js') };
}

/** Where the jar of the other is, and the module that its Go is compiled in. */
export function javaGenerator(env) {
  const folder = path.join(toolsFolder(env), `openapi-generator-${JAR_VERSION}`);
  const jar = path.join(folder, 'lib', `openapi-generator-cli-${JAR_VERSION}.jar`);
  return { folder, jar, goModule: path.join(folder, 'module') };
}

/** Null when both are installed and can run, else the sentence that says what is missing. */
export function clientGeneratorsMissing(env) {
  const missing = ['java', 'go'].find((tool) => onPath(tool, env) === null);
  if (missing !== undefined) return `${missing} is not installed`;
  const isThere = existsSync(typescriptGenerator(env).program) && existsSync(javaGenerator(env).jar);
  return isThere ? null : 'the generators of clients are not installed';
}

/** Installs both; resolves with one line for each that says how it went. */
export async function installClientGenerators(env) {
  mkdirSync(toolsFolder(env), { recursive: true });
  const lock = path.join(toolsFolder(env), '.client-generators.lock');
  return await withLock(lock, () => Promise.all([installTypescript(env), installJar(env)]));
}

async function installTypescript(env) {
  const { folder, program } = typescriptGenerator(env);
  const name = 'openapi-typescript';
  if (existsSync(program)) return { name, ok: true, line: program };
  return await aside(name, folder, async (target) => {
    writeFileSync(path.join(target, 'package.json'), '{ "private": true, "type": "module" }\n');
    const packages = [`openapi-typescript@${TYPESCRIPT_VERSION}`, `openapi-fetch@${FETCH_VERSION}`];
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages];
    await runNetworkStep(`npm install of ${packages.join(' and ')}`, 'npm', args, { env, cwd: target });
  });
}

async function installJar(env) {
  const name = 'openapi-generator';
  const { folder, jar } = javaGenerator(env);
  if (existsSync(jar)) return { name, ok: true, line: jar };
  const missing = ['mvn', 'go'].find((tool) => onPath(tool, env) === null);
  if (missing !== undefined) return { name, ok: false, line: `${missing} is not installed` };
  return await aside(name, folder, async (target) => {
    const goModule = path.join(target, 'module');
    mkdirSync(goModule);
    writeFileSync(path.join(goModule, 'go.mod'), GO_MODULE);
    await runNetworkStep('go mod download', 'go', ['mod', 'download', 'all'], { env, cwd: goModule });
    writeFileSync(path.join(target, 'pom.xml'), POM);
    const args = ['-q', '-B', '-ntp', 'dependency:copy-dependencies', '-DoutputDirectory=lib'];
    await runNetworkStep(`mvn of openapi-generator-cli:${JAR_VERSION}`, 'mvn', args, { env, cwd: target });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const results = await installClientGenerators(process.env);
  for (const { name, ok, line } of results) {
    process.stderr.write(`parley: ${ok ? name : `Cannot install ${name}`}: ${line}\n`);
  }
  if (process.env.CI === 'true' && results.some(({ ok }) => !ok)) process.exitCode = 1;
}
