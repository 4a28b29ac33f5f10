/**
 * What a workspace brings for its agents, and which tools there are.
 */
import { isAbsolute, join } from 'node:path';

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { hookConfigSchema } from '../hooks/hook-config.ts';
import { HttpError } from '../http-error.ts';
import { jsonOrNull } from '../llm-response.ts';
import type { ServerContext } from '../server-context.ts';
import { projectSkills, readInside } from '../skills.ts';
import type { Skill } from '../skills.ts';
import { TOOL_NAMES } from '../tools/tool-set.ts';
import { parsePart } from '../wire-schema.ts';

const folderSchema = z
  .string()
  .refine((path) => isAbsolute(path) && !path.includes('\0'), { message: 'Path must be absolute' })
  .nullish();
const skillsSchema = z.object({ load_project: z.boolean().default(true), project_dir: folderSchema });
const hooksSchema = z.object({ project_dir: folderSchema });

/** Where a workspace keeps its hooks. */
const HOOKS_FILE = '.openhands/hooks.json';

export function addExtensionRoutes(server: FastifyInstance, context: ServerContext): void {
  const { activity, config, vault } = context;
  server.get('/api/tools', () => TOOL_NAMES);
  server.get('/api/tools/', () => TOOL_NAMES);
  server.post('/api/skills', async (request) => {
    const { load_project: wanted, project_dir: given } = parsePart(skillsSchema, request.body ?? {}, 'body');
    const folder = given ?? config.workspaceDir;
    const skills = wanted ? await activity.during(() => projectSkills(folder)) : [];
    return vault.deep({ skills: skills.map(wireSkill), sources: { project: skills.length } });
  });
  server.post('/api/hooks', async (request) => {
    const { project_dir: given } = parsePart(hooksSchema, request.body ?? {}, 'body');
    const folder = given ?? config.workspaceDir;
    const text = await activity.during(() => readInside(join(folder, HOOKS_FILE), folder));
    if (text === null) return { hook_config: null };
    const parsed = hookConfigSchema.safeParse(jsonOrNull(text));
    if (!parsed.success)
      throw new HttpError(400, `Cannot read hooks: "${HOOKS_FILE}" is no hook configuration`);
    return { hook_config: vault.deep(parsed.data) };
  });
}

function wireSkill({
  name,
  content,
  triggers,
  description,
  source,
}: Skill): Readonly<Record<string, unknown>> {
  const type = description !== null ? 'agentskills' : triggers.length > 0 ? 'knowledge' : 'repo';
  return { name, type, content, triggers, source, description, is_agentskills_format: description !== null };
}
