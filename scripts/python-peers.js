/**
 * Installs the Python programs that tests talk to for real, where they are missing: a virtual environment for each,
 * in the cache beside the other tools. Every package comes as a wheel and in the version of the peer's list.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runNetworkStep, runQuietly } from './run-quietly.js';
import { runAsProgram, secondsSince, toolsFolder } from './tool-cache.js';

/** A peer is a list of packages beside this file, and what must be importable once they are installed. */
const PEERS = {
  litellm: { imports: ['litellm.proxy.proxy_cli', 'openai', 'anthropic'] },
  schemathesis: { imports: ['schemathesis.cli'] },
  openhands: {
    imports: ['openhands.workspace', 'openhands.agent_server.__main__', 'openhands.tools.terminal'],
  },
};

/** Older ones are not what the peers are built for. */
const PYTHON_MINOR_MIN = 12;
/** Newer ones have no wheels of some packages yet. */
const PYTHON_MINOR_MAX = 13;
/** An interpreter that takes longer than this to say its version does not work. */
const PROBE_MS = 10_000;

/** @typedef {keyof typeof PEERS} PeerName */

/** Every peer by name. @type {readonly PeerName[]} */
export const peerNames = Object.keys(PEERS);

/** The interpreter of a peer's environment. @type {(name: PeerName, env: NodeJS.ProcessEnv) => string} */
export function peerPython(name, env) {
  return path.join(peerFolder(name, env), 'bin', 'python');
}

/**
 * Null when the peer is installed as its list says, else the sentence that says what is missing.
 * @type {(name: PeerName, env: NodeJS.ProcessEnv) => string | null}
 */
export function peerMissing(name, env) {
  const stamp = path.join(peerFolder(name, env), STAMP);
  if (!existsSync(stamp)) return `the Python peer "${name}" is not installed`;
  if (readFileSync(stamp, 'utf8') !== packageList(name)) return `the Python peer "${name}" is out of date`;
  return null;
}

/** Written last, so that an installation that was cut off is begun anew. */
const STAMP = 'installed-packages.txt';

function peerFolder(name, env) {
  return path.join(toolsFolder(env), 'python', name);
}

function packageFile(name) {
  return path.join(import.meta.dirname, 'python-peers', `${name}.txt`);
}

function packageList(name) {
  return readFileSync(packageFile(name), 'utf8');
}

async function installPeer(name, env) {
  const title = `Python peer "${name}"`;
  if (peerMissing(name, env) === null) return { name: title, ok: true, line: peerFolder(name, env) };
  const python = findPython(env);
  if (python === null) {
    const line = `no Python from 3.${PYTHON_MINOR_MIN} to 3.${PYTHON_MINOR_MAX} is on the path or with pyenv`;
    return { name: title, ok: false, line };
  }
  const startedAt = Date.now();
  const folder = peerFolder(name, env);
  rmSync(folder, { recursive: true, force: true });
  try {
    await runQuietly(python, ['-m', 'venv', folder], { env });
    const wheels = ['--only-binary', ':all:', '--no-deps', '--disable-pip-version-check', '--no-input'];
    const pip = ['-m', 'pip', 'install', ...wheels, '-r', packageFile(name)];
    await runNetworkStep(`pip install of the peer ${name}`, peerPython(name, env), pip, { env });
    // The first import compiles; a test should not wait for it. LiteLLM would fetch a newer list of prices.
    const importEnv = { ...env, LITELLM_LOCAL_MODEL_COST_MAP: 'True' };
    await runQuietly(peerPython(name, env), ['-c', `import ${PEERS[name].imports.join(', ')}`], {
      env: importEnv,
    });
    writeFileSync(path.join(folder, STAMP), packageList(name));
    return { name: title, ok: true, line: `installed in ${secondsSince(startedAt)} s` };
  } catch (error) {
    return { name: title, ok: false, line: error.message };
  }
}

/** The newest interpreter that fits: on the path by any of its names, or among pyenv's versions. */
function findPython(env) {
  const found = [...onPath(env), ...ofPyenv(env)].map((file) => ({ file, minor: minorOf(file, env) }));
  const fitting = found.filter(({ minor }) => minor >= PYTHON_MINOR_MIN && minor <= PYTHON_MINOR_MAX);
  return fitting.sort((a, b) => b.minor - a.minor)[0]?.file ?? null;
}

function onPath(env) {
  const names = ['python3'];
  for (let minor = PYTHON_MINOR_MAX; minor >= PYTHON_MINOR_MIN; minor -= 1) names.push(`python3.${minor}`);
  const folders = (env.PATH ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return folders.flatMap((folder) => names.map((name) => path.join(folder, name))).filter(existsSync);
}

/** Its shims run only the versions that are chosen; the others are there all the same. */
function ofPyenv(env) {
  const answer = spawnSync('pyenv', ['root'], { env, encoding: 'utf8', timeout: PROBE_MS });
  if (answer.status !== 0) return [];
  const versions = path.join(answer.stdout.trim(), 'versions');
  if (!existsSync(versions)) return [];
  return readdirSync(versions)
    .map((version) => path.join(versions, version, 'bin', 'python3'))
    .filter(existsSync);
}

/** The minor version of a Python 3 that can make environments; -1 for anything else. */
function minorOf(file, env) {
  const program = 'import sys, venv, ensurepip; print(*sys.version_info[:2])';
  const answer = spawnSync(file, ['-c', program], { env, encoding: 'utf8', timeout: PROBE_MS });
  const [major, minor] = answer.status === 0 ? answer.stdout.trim().split(' ').map(Number) : [];
  return major === 3 ? minor : -1;
}

await runAsProgram(import.meta.url, 'python', async (env) => {
  mkdirSync(path.join(toolsFolder(env), 'python'), { recursive: true });
  const results = [];
  // One after another: pip is bound by the processor once the wheels are there.
  for (const name of peerNames) results.push(await installPeer(name, env));
  return results;
});
