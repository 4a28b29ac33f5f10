/**
 * Installs coding agents that speak the Agent Client Protocol, where they are missing: OpenCode, with `parley agent add` as
 * users do. Tests let it work in a sandbox. It goes into the cache outside the tree, and is there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { withLock } from './lock.js';
import { runNetworkStep } from './run-quietly.js';
import { ROOT } from './setup.js';
import { toolsFolder } from './temporal-tools.js';

export const OPENCODE_VERSION = '1.18.33';

/** A deployment of nothing but agents. */
function deploymentFolder(env) {
  return path.join(toolsFolder(env), 'acp-agents');
}

/** The folder of the version above, with its program in `bin/`; null when it is not installed. */
export function opencodeFolder(env) {
  const agent = path.join(deploymentFolder(env), 'agents', 'opencode');
  const note = path.join(agent, 'agent.json');
  if (!existsSync(note)) return null;
  const { version, directory } = JSON.parse(readFileSync(note, 'utf8'));
  return version === OPENCODE_VERSION ? path.join(agent, directory) : null;
}

/** Null when it is installed, else the sentence that says what is missing. */
export function acpAgentsMissing(env) {
  return opencodeFolder(env) === null ? 'OpenCode is not installed' : null;
}

/** Resolves with a line that says how it went. */
export async function installAcpAgents(env) {
  mkdirSync(deploymentFolder(env), { recursive: true });
  return await withLock(path.join(toolsFolder(env), '.acp-agents.lock'), () => installOpencode(env));
}

async function installOpencode(env) {
  const name = 'OpenCode';
  const there = opencodeFolder(env);
  if (there !== null) return { name, ok: true, line: there };
  const cwd = deploymentFolder(env);
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  const agent = `opencode@${OPENCODE_VERSION}`;
  const args = [path.join(ROOT, 'bin/parley.js'), 'agent', 'add', agent, '--config', 'parley.yaml'];
  try {
    await runNetworkStep(`parley agent add ${agent}`, process.execPath, args, { env, cwd });
    return { name, ok: true, line: opencodeFolder(env) ?? cwd };
  } catch (error) {
    return { name, ok: false, line: String(error.message) };
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { name, ok, line } = await installAcpAgents(process.env);
  process.stderr.write(`parley: ${ok ? name : `Cannot install ${name}`}: ${line}\n`);
  if (process.env.CI === 'true' && !ok) process.exitCode = 1;
}
