/**
 * A start request together with what its plugins bring: skills, hooks and tool servers.
 * Owns who wins where names meet: the later plugin, and any plugin over the request, as in the reference.
 */
import { HttpError } from '../http-error.ts';
import { mergeHooks } from '../hooks/hook-config.ts';
import type { HookConfig } from '../hooks/hook-config.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import { requestSkills } from '../skills.ts';
import type { Skill } from '../skills.ts';
import type { StartRequest } from '../start-request.ts';
import { PluginError, readPlugin } from './plugin.ts';
import type { Plugin } from './plugin.ts';
import { fetchPlugin } from './plugin-source.ts';

/** What a conversation has beside its model and its tools. */
export interface Equipment {
  readonly skills: readonly Skill[];
  readonly hooks: HookConfig | null;
  readonly mcpServers: McpServers;
}

/** @throws HttpError 422 a plugin cannot be loaded: a conversation without it would be another one */
export async function equipmentOf(request: StartRequest, cacheDir: string): Promise<Equipment> {
  const plugins: Plugin[] = [];
  try {
    for (const source of request.plugins ?? [])
      plugins.push(await readPlugin(await fetchPlugin(source, cacheDir)));
  } catch (error) {
    if (error instanceof PluginError)
      throw new HttpError(422, [{ type: 'value_error', loc: ['body', 'plugins'], msg: error.message }]);
    throw error;
  }
  const skills = new Map<string, Skill>();
  for (const skill of requestSkills(request.agent.agent_context?.skills ?? [])) skills.set(skill.name, skill);
  for (const skill of plugins.flatMap((plugin) => plugin.skills)) skills.set(skill.name, skill);
  return {
    skills: [...skills.values()],
    hooks: mergeHooks([request.hook_config ?? null, ...plugins.map((plugin) => plugin.hooks)]),
    mcpServers: Object.assign(
      {},
      request.agent.mcp_config ?? {},
      ...plugins.map((plugin) => plugin.mcpServers),
    ) as McpServers,
  };
}
