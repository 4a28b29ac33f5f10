/**
 * One plugin: a folder with skills, commands, hooks and tool servers, as other coding agents know it, too.
 * Owns reading it; where it comes from is plugin-source.ts's, and what a conversation makes of it is merge-plugins.ts's.
 */
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { hookConfigSchema, type HookConfig } from '../hooks/hook-config.ts';
import { jsonOrNull } from '../model/llm-response.ts';
import { mcpConfigSchema, type McpServers } from '../mcp/mcp-servers.ts';
import { FileFinding, parseSkill, readInside, skillsIn, type SkillsRead } from '../skill-file.ts';
import type { Skill } from '../skills.ts';

export interface Plugin {
  readonly name: string;
  readonly skills: readonly Skill[];
  readonly hooks: HookConfig | null;
  readonly mcpServers: McpServers;
  /** Skills that were left out and why. */
  readonly findings: readonly string[];
}

/** A folder that is no plugin, or whose files cannot be read as what they are named. */
export class PluginError extends Error {}

const MANIFESTS = ['.plugin/plugin.json', '.claude-plugin/plugin.json', 'plugin.json'];
const MCP_FILES = ['.mcp.json', 'mcp.json'];
/** Stands for the plugin's own folder in its commands. */
const ROOT_WORD = /\$\{(?:CLAUDE_PLUGIN_ROOT|PLUGIN_ROOT)\}/g;

/** @throws PluginError */
export async function readPlugin(folder: string): Promise<Plugin> {
  const manifest = await firstJson(folder, MANIFESTS);
  const named =
    typeof manifest === 'object' && manifest !== null && 'name' in manifest ? manifest.name : null;
  const name = typeof named === 'string' && named !== '' ? named : basename(folder);
  const read = [
    await skillsIn(join(folder, 'skills'), folder),
    await commandsIn(join(folder, 'commands'), { root: folder, plugin: name }),
  ];
  const skills = read.flatMap((each) => each.skills);
  const servers = await firstJson(folder, MCP_FILES);
  const hooks = await firstJson(folder, ['hooks/hooks.json']);
  const plugin: Plugin = {
    name,
    skills,
    hooks: hooks === null ? null : checked(hookConfigSchema, rooted(hooks, folder), `${name}: hooks.json`),
    mcpServers:
      servers === null ? {} : checked(mcpConfigSchema, rooted(servers, folder), `${name}: .mcp.json`),
    findings: read.flatMap((each) => each.findings.map((finding) => `Plugin "${name}": ${finding}`)),
  };
  const isEmpty = skills.length === 0 && plugin.hooks === null && Object.keys(plugin.mcpServers).length === 0;
  if (manifest === null && isEmpty)
    throw new PluginError(`Cannot load plugin "${folder}": there is none in this folder`);
  return plugin;
}

/** The first of these files that is there, parsed; null when none is. @throws PluginError */
async function firstJson(folder: string, names: readonly string[]): Promise<unknown> {
  for (const name of names) {
    const text = await readInside(join(folder, name), folder).catch((error: unknown) => {
      if (error instanceof FileFinding)
        throw new PluginError(`Cannot load plugin "${folder}": "${name}": ${error.message}`);
      throw error;
    });
    if (text === null) continue;
    const value = jsonOrNull(text);
    if (value === null) throw new PluginError(`Cannot load plugin "${folder}": "${name}" is no JSON`);
    return value;
  }
  return null;
}

function checked<T>(
  schema: {
    safeParse(value: unknown): { readonly data?: T | undefined; readonly error?: Error | undefined };
  },
  value: unknown,
  what: string,
): T {
  const parsed = schema.safeParse(value);
  if (parsed.data !== undefined) return parsed.data;
  throw new PluginError(`Cannot load plugin ${what}: ${parsed.error?.message.slice(0, 300) ?? 'not valid'}`);
}

/** The same value with the plugin's folder in place of the word for it. */
function rooted(value: unknown, folder: string): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, item: unknown) => {
      return typeof item === 'string' ? item.replace(ROOT_WORD, () => folder) : item;
    }),
  );
}

/** A command is a skill that a message calls for by its name behind a slash. */
async function commandsIn(
  folder: string,
  around: { readonly root: string; readonly plugin: string },
): Promise<SkillsRead> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.md')).sort();
  const skills: Skill[] = [];
  const findings: string[] = [];
  for (const name of names) {
    const trigger = `/${around.plugin}:${basename(name, '.md')}`;
    const path = join(folder, name);
    try {
      const text = await readInside(path, around.root);
      if (text === null) continue;
      const own = { name: trigger, triggers: [trigger], description: null };
      skills.push({ ...(await parseSkill(path, text)), ...own });
    } catch (error) {
      if (!(error instanceof FileFinding)) throw error;
      findings.push(`there is no command "${trigger}": ${error.message}`);
    }
  }
  return { skills, findings };
}
