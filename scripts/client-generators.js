/**
 * Installs two generators of clients, where they are missing: `openapi-typescript` from npm and `openapi-generator` from
 * Maven. Tests let each read the OpenAPI document, and compile and use what it writes. They go into the cache outside
 * the tree, and are there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onPath } from './find-program.js';
import { runNetworkStep } from './run-quietly.js';
import { installTool, mavenInstall, npmInstall, pomOf, runAsProgram, toolsFolder } from './tool-cache.js';

const TYPESCRIPT_VERSION = '7.13.0';
/** The client that its types are made for. */
const FETCH_VERSION = '0.17.0';
const JAR_VERSION = '7.24.0';

/** The jar alone: what it depends on is in it. */
const POM = pomOf('client-generators', {
  group: 'org.openapitools',
  artifact: 'openapi-generator-cli',
  version: JAR_VERSION,
  inside: `
      <exclusions>
        <exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>
      </exclusions>`,
});

/** What the Go that it writes needs beside Go. */
const GO_MODULE = `module parley

go 1.21

require gopkg.in/validator.v2 v2.0.1
`;

/** Where the packages of npm are: beside them a program finds both by name. @param {NodeJS.ProcessEnv} env */
export function typescriptGenerator(env) {
  const folder = path.join(toolsFolder(env), `openapi-typescript-${TYPESCRIPT_VERSION}-${FETCH_VERSION}`);
  const modules = path.join(folder, 'node_modules');
  return { folder, modules, program: path.join(modules, 'openapi-typescript', 'bin', 'cli.js') };
}

/** Where the jar of the other is, and the module that its Go is compiled in. @param {NodeJS.ProcessEnv} env */
export function javaGenerator(env) {
  const folder = path.join(toolsFolder(env), `openapi-generator-${JAR_VERSION}`);
  const jar = path.join(folder, 'lib', `openapi-generator-cli-${JAR_VERSION}.jar`);
  return { folder, jar, goModule: path.join(folder, 'module') };
}

/**
 * Null when both are installed and can run, else the sentence that says what is missing.
 * @param {NodeJS.ProcessEnv} env
 */
export function clientGeneratorsMissing(env) {
  const missing = ['java', 'go'].find((tool) => onPath(tool, env) === null);
  if (missing !== undefined) return `${missing} is not installed`;
  const isThere = existsSync(typescriptGenerator(env).program) && existsSync(javaGenerator(env).jar);
  return isThere ? null : 'the generators of clients are not installed';
}

async function installTypescript(env) {
  const { folder, program } = typescriptGenerator(env);
  const there = existsSync(program) ? program : null;
  return await installTool({ name: 'openapi-typescript', there, folder, needs: [] }, env, async (target) => {
    writeFileSync(path.join(target, 'package.json'), '{ "private": true, "type": "module" }\n');
    const packages = [`openapi-typescript@${TYPESCRIPT_VERSION}`, `openapi-fetch@${FETCH_VERSION}`];
    await npmInstall(packages, target, env);
  });
}

async function installJar(env) {
  const { folder, jar } = javaGenerator(env);
  const there = existsSync(jar) ? jar : null;
  const tool = { name: 'openapi-generator', there, folder, needs: ['mvn', 'go'] };
  return await installTool(tool, env, async (target) => {
    const goModule = path.join(target, 'module');
    mkdirSync(goModule);
    writeFileSync(path.join(goModule, 'go.mod'), GO_MODULE);
    await runNetworkStep('go mod download', 'go', ['mod', 'download', 'all'], { env, cwd: goModule });
    writeFileSync(path.join(target, 'pom.xml'), POM);
    await mavenInstall(`openapi-generator-cli:${JAR_VERSION}`, target, env);
  });
}

await runAsProgram(import.meta.url, 'client-generators', (env) =>
  Promise.all([installTypescript(env), installJar(env)]),
);
