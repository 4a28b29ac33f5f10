/**
 * From the place a request names to a folder with the plugin in it: a path of the sandbox, or a clone of a repository.
 * Owns the clones; a credential in an address is never shown.
 */
import { createHash } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

import { z } from 'zod';

import { runChild } from '../workspace/child.ts';
import { PLUGIN_CLONE_MS } from '../limits.ts';
import { shellEnvironment } from '../workspace/shell-environment.ts';
import { PluginError } from './plugin.ts';

export const pluginSourceSchema = z.object({
  source: z.string().min(1).max(1_024),
  ref: z.string().max(500).regex(/^[^-]/).nullish(),
  repo_path: z
    .string()
    .max(1_024)
    .regex(/^[^/]/, 'repo_path must be relative')
    .refine((path) => !path.split('/').includes('..'), { message: 'repo_path cannot contain ".."' })
    .nullish(),
});
type PluginSource = z.infer<typeof pluginSourceSchema>;

/** Aside first, so that what is there is whole. All of it in the tools' place: the folder is theirs, too. */
const CLONE = `folder=$1 address=$2; shift 2
rm -rf -- "$folder.clone" && git clone --quiet --depth 1 "$@" -- "$address" "$folder.clone" && mv -- "$folder.clone" "$folder"`;

/** What Git prints about a clone that fails, up to here. */
const COMPLAINT_CHARS_MAX = 500;

/** Absolute path of the plugin's folder. @throws PluginError */
export async function fetchPlugin(plugin: PluginSource, cacheDir: string): Promise<string> {
  const { source, ref, repo_path: inside } = plugin;
  const top = isAbsolute(source) ? source : await clone(addressOf(source), ref ?? null, cacheDir);
  const folder = inside ? join(top, inside) : top;
  if ((await stat(folder).catch(() => null))?.isDirectory() === true) return folder;
  throw new PluginError(`Cannot load plugin "${shown(source)}": there is no folder "${inside ?? source}"`);
}

/** @throws PluginError no path, no address and no repository of a known host */
function addressOf(source: string): string {
  const short = /^github:([\w.-]+\/[\w.-]+)$/.exec(source)?.[1];
  if (short !== undefined) return `https://github.com/${short}.git`;
  if (/^(https?|ssh|git|file):\/\/|^git@/.test(source)) return source;
  throw new PluginError(
    `Cannot load plugin "${shown(source)}": it is no path and no address of a repository`,
  );
}

/** Credentials of an address are masked, as the reference shows it. */
function shown(source: string): string {
  return source.replace(/\/\/[^@/]*@/, '//****@');
}

/** Cloned aside and moved into place; a clone that is there is used again. */
async function clone(address: string, ref: string | null, cacheDir: string): Promise<string> {
  const mark = createHash('sha256')
    .update(`${address}\0${ref ?? ''}`)
    .digest('hex')
    .slice(0, 16);
  const folder = join(cacheDir, mark);
  if ((await stat(folder).catch(() => null))?.isDirectory() === true) return folder;
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const branch = ref === null ? [] : ['--branch', ref];
  let complaint = '';
  const code = await runChild({
    program: 'sh',
    args: ['-c', CLONE, 'sh', folder, address, ...branch],
    cwd: cacheDir,
    env: shellEnvironment({}),
    timeoutMs: PLUGIN_CLONE_MS,
    onStdout: () => undefined,
    onStderr: (chunk) => (complaint = (complaint + chunk.toString('utf8')).slice(0, COMPLAINT_CHARS_MAX)),
  });
  if (code !== 0) {
    const why = code === null ? `no end within ${PLUGIN_CLONE_MS} ms` : shown(complaint.trim());
    throw new PluginError(`Cannot load plugin "${shown(address)}": ${why}`);
  }
  return folder;
}
