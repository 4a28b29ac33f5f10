/**
 * The other gateways of the bench: where their programs are, and how one that is missing gets there.
 * Owns the versions that are measured; nothing of theirs ever becomes a dependency of this repository.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as pythonPeers from '../../scripts/python-peers.js';
import type * as temporalTools from '../../scripts/temporal-tools.js';

/** The program and its arguments, or why there is none. */
export type PeerProgram = { readonly command: readonly string[] } | { readonly reason: string };

const PORTKEY = '@portkey-ai/gateway';
const PORTKEY_VERSION = '1.15.2';
/** A download that takes longer is not worth the wait. */
const INSTALL_MS_MAX = 300_000;

/** LiteLLM from the environment that the tests use. */
export async function litellmProgram(): Promise<PeerProgram> {
  const { peerMissing, peerPython } = await script<typeof pythonPeers>('python-peers.js');
  const missing = peerMissing('litellm', process.env);
  if (missing !== null) return { reason: `${missing}; node scripts/python-peers.js installs it` };
  return { command: [peerPython('litellm', process.env), '-m', 'litellm.proxy.proxy_cli'] };
}

/** Portkey's gateway, installed beside the other tools on its first use; no script of a package runs. */
export async function portkeyProgram(): Promise<PeerProgram> {
  const { toolsFolder } = await script<typeof temporalTools>('temporal-tools.js');
  const folder = path.join(toolsFolder(process.env), 'portkey', PORTKEY_VERSION);
  const program = path.join(folder, 'node_modules', PORTKEY, 'build', 'start-server.js');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
    const npm = spawnSync('npm', [...args, `${PORTKEY}@${PORTKEY_VERSION}`], {
      encoding: 'utf8',
      timeout: INSTALL_MS_MAX,
    });
    const said = npm.error?.message ?? npm.stderr.trim().split('\n').at(-1) ?? '';
    if (npm.status !== 0 || !existsSync(program)) return { reason: `it cannot be installed: ${said}` };
  }
  return { command: [process.execPath, program] };
}

/** As it stands in the repository, where a bench runs: in one bundle with the bench it would take itself for the program. */
async function script<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(path.resolve('scripts', name)).href)) as T;
}
