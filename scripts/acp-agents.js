/**
 * Installs coding agents that speak the Agent Client Protocol, where they are missing: OpenCode from npm. Tests let it
 * work in a sandbox. It goes into the cache outside the tree, and is there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { withLock } from './lock.js';
import { runNetworkStep } from './run-quietly.js';
import { aside, toolsFolder } from './temporal-tools.js';

export const OPENCODE_VERSION = '1.18.33';

function opencodeFolder(env) {
  return path.join(toolsFolder(env), `opencode-ai-${OPENCODE_VERSION}`);
}

/** The program itself, of the package for this machine; null when it is not installed. */
export function opencodeProgram(env) {
  const modules = path.join(opencodeFolder(env), 'node_modules');
  if (!existsSync(modules)) return null;
  const folders = readdirSync(modules).filter(
    (name) => name.startsWith('opencode-') && name !== 'opencode-ai',
  );
  // The one for older processors runs on every one.
  const ordered = folders.sort((a, b) => Number(b.includes('baseline')) - Number(a.includes('baseline')));
  const programs = ordered.map((name) => path.join(modules, name, 'bin', 'opencode'));
  return programs.find((file) => existsSync(file)) ?? null;
}

/** Null when it is installed, else the sentence that says what is missing. */
export function acpAgentsMissing(env) {
  return opencodeProgram(env) === null ? 'OpenCode is not installed' : null;
}

/** Resolves with a line that says how it went. */
export async function installAcpAgents(env) {
  mkdirSync(toolsFolder(env), { recursive: true });
  return await withLock(path.join(toolsFolder(env), '.acp-agents.lock'), () => installOpencode(env));
}

async function installOpencode(env) {
  const name = 'OpenCode';
  const there = opencodeProgram(env);
  if (there !== null) return { name, ok: true, line: there };
  return await aside(name, opencodeFolder(env), async (target) => {
    writeFileSync(path.join(target, 'package.json'), '{ "private": true }\n');
    const args = [
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      `opencode-ai@${OPENCODE_VERSION}`,
    ];
    await runNetworkStep(`npm install of opencode-ai@${OPENCODE_VERSION}`, 'npm', args, { env, cwd: target });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { name, ok, line } = await installAcpAgents(process.env);
  process.stderr.write(`parley: ${ok ? name : `Cannot install ${name}`}: ${line}\n`);
  if (process.env.CI === 'true' && !ok) process.exitCode = 1;
}
