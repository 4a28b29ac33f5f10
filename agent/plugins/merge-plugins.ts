/**
 * A start request together with what its workspace and its plugins bring: skills, hooks and tool servers.
 * Owns who wins where names meet: the request over the workspace, the later plugin, and any plugin over the request, as
 * in the reference. Hooks of all of them are run.
 */
import { HttpError } from '../serve/http-error.ts';
import { mergeHooks, type HookConfig } from '../hooks/hook-config.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import { requestSkills, type Skill } from '../skills.ts';
import type { StartRequest } from '../conversation/start-request.ts';
import { workspaceHooks, workspaceSkills } from '../workspace-surface.ts';
import { PluginError, readPlugin, type Plugin } from './plugin.ts';
import { fetchPlugin } from './plugin-source.ts';

/** What a conversation has beside its model and its tools. */
export interface Equipment {
  readonly skills: readonly Skill[];
  readonly hooks: HookConfig | null;
  readonly mcpServers: McpServers;
  /** What of it cannot be used and why: one sentence each. */
  readonly findings: readonly string[];
}

/**
 * `workspace` is the folder whose skills and hooks are the agent's (D37), or null for none of them.
 * @throws HttpError 422 a plugin cannot be loaded: a conversation without it would be another one
 */
export async function equipmentOf(
  request: StartRequest,
  { cacheDir, workspace }: { readonly cacheDir: string; readonly workspace: string | null },
): Promise<Equipment> {
  const plugins: Plugin[] = [];
  try {
    for (const source of request.plugins ?? [])
      plugins.push(await readPlugin(await fetchPlugin(source, cacheDir)));
  } catch (error) {
    if (error instanceof PluginError)
      throw new HttpError(422, [{ type: 'value_error', loc: ['body', 'plugins'], msg: error.message }]);
    throw error;
  }
  const brought = workspace === null ? null : await workspaceSkills(workspace);
  const own = workspace === null ? null : await workspaceHooks(workspace);
  const skills = new Map<string, Skill>();
  for (const skill of brought?.skills ?? []) skills.set(skill.name, skill);
  for (const skill of requestSkills(request.agent.agent_context?.skills ?? [])) skills.set(skill.name, skill);
  for (const skill of plugins.flatMap((plugin) => plugin.skills)) skills.set(skill.name, skill);
  return {
    skills: [...skills.values()],
    hooks: mergeHooks([
      own?.hooks ?? null,
      request.hook_config ?? null,
      ...plugins.map((plugin) => plugin.hooks),
    ]),
    findings: [brought, own, ...plugins].flatMap((each) => each?.findings ?? []),
    mcpServers: Object.assign(
      {},
      request.agent.mcp_config ?? {},
      ...plugins.map((plugin) => plugin.mcpServers),
    ) as McpServers,
  };
}
