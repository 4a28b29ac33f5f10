/**
 * Plugins of a conversation as folders of its sandbox, before its agent is opened.
 * Owns where they are cloned to; what is in them is read by the Agent Server, which loads them or refuses the start.
 */
import type { CommandOf } from '../core/machine/command.ts';
import { quoted } from '../core/text/shell-word.ts';
import type { OwnTarget } from './agent-target.ts';
import { withGitCredential, writeGitCredential } from './git-credential.ts';
import { runScript } from './in-sandbox.ts';
import type { LaunchPlugin } from './launch-facts.ts';
import type { World } from './world.ts';

/** A plugin is small; past it the step has failed. */
const CLONE_TIMEOUT_MS = 120_000;

/** Absolute paths, in order; one that is there is taken as it is. @throws ParleyError repository_failed */
export async function preparePlugins(
  world: World,
  target: OwnTarget,
  {
    command,
    plugins,
  }: { readonly command: CommandOf<'openAgent'>; readonly plugins: readonly LaunchPlugin[] },
): Promise<readonly string[]> {
  const { conversationId, generation } = command;
  const base = `${target.address.workspaceDir}/.plugins/${conversationId}`;
  const folders: string[] = [];
  for (const [index, plugin] of plugins.entries()) {
    const top = `${base}/${index}`;
    const credential = `${top}.gitconfig`;
    await writeGitCredential(world, target, { conversationId, generation, path: credential });
    const url = world.clones.cloneUrl(
      { provider: plugin.host, name: plugin.source },
      target.address.routes.gitUrl,
    );
    await runScript(world, target, {
      script: `${withGitCredential(credential)}\n${cloneScript(url, plugin, top)}`,
      workingDir: target.address.workspaceDir,
      timeoutMs: CLONE_TIMEOUT_MS,
      code: 'repository_failed',
      doing: `clone plugin "${plugin.source}"`,
    });
    folders.push(plugin.path === null ? top : `${top}/${plugin.path}`);
  }
  return folders;
}

/** Cloned aside and moved into place, so that a repeat never takes half a clone for a whole one. */
function cloneScript(url: string, { ref }: LaunchPlugin, top: string): string {
  const branch = ref === null ? '' : ` --branch ${quoted(ref)}`;
  const aside = quoted(`${top}.clone`);
  return [
    `if [ ! -e ${quoted(top)} ]; then`,
    `  rm -rf ${aside}`,
    `  git clone --quiet --depth 1${branch} -- ${quoted(url)} ${aside} 1>&2`,
    `  mv ${aside} ${quoted(top)}`,
    'fi',
  ].join('\n');
}
