/**
 * Installs coding agents that speak the Agent Client Protocol, where they are missing: OpenCode, Claude Code and Codex, with
 * `parley agent add` as users do. Tests let them work in a sandbox; none needs an account there. They go into the cache
 * outside the tree, and are there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runNetworkStep } from './run-quietly.js';
import { ROOT } from './setup.js';
import { runAsProgram, toolsFolder } from './tool-cache.js';

/** By the name of the preset. @typedef {keyof typeof AGENT_VERSIONS} InstalledAgentName */
export const AGENT_VERSIONS = { opencode: '1.18.33', 'claude-code': '0.49.0', codex: '2.6.0' };

const NAMES = Object.keys(AGENT_VERSIONS);

/** A deployment of nothing but agents. */
function deploymentFolder(env) {
  return path.join(toolsFolder(env), 'acp-agents');
}

/**
 * The folder of the version above, with its program in `bin/`; null when it is not installed.
 * @type {(name: InstalledAgentName, env: NodeJS.ProcessEnv) => string | null}
 */
export function agentFolder(name, env) {
  const agent = path.join(deploymentFolder(env), 'agents', name);
  const note = path.join(agent, 'agent.json');
  if (!existsSync(note)) return null;
  const { version, directory } = JSON.parse(readFileSync(note, 'utf8'));
  return version === AGENT_VERSIONS[name] ? path.join(agent, directory) : null;
}

/** Null when all are installed, else the sentence that says what is missing. @param {NodeJS.ProcessEnv} env */
export function acpAgentsMissing(env) {
  const missing = NAMES.filter((name) => agentFolder(name, env) === null);
  if (missing.length === 0) return null;
  return `the coding agent${missing.length === 1 ? '' : 's'} ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not installed`;
}

async function install(name, env) {
  const there = agentFolder(name, env);
  if (there !== null) return { name, ok: true, line: there };
  const cwd = deploymentFolder(env);
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  const agent = `${name}@${AGENT_VERSIONS[name]}`;
  const args = [path.join(ROOT, 'bin/parley.js'), 'agent', 'add', agent, '--config', 'parley.yaml'];
  try {
    await runNetworkStep(`parley agent add ${agent}`, process.execPath, args, { env, cwd });
    return { name, ok: true, line: agentFolder(name, env) ?? cwd };
  } catch (error) {
    return { name, ok: false, line: String(error.message) };
  }
}

await runAsProgram(import.meta.url, 'acp-agents', async (env) => {
  mkdirSync(deploymentFolder(env), { recursive: true });
  const results = [];
  for (const name of NAMES) results.push(await install(name, env));
  return results;
});
