/**
 * What a workspace brings for its agents, and which tools there are.
 */
import { isAbsolute } from 'node:path';

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { HttpError } from '../serve/http-error.ts';
import type { ServerContext } from '../serve/server-context.ts';
import { wireSkill } from '../skills.ts';
import { TOOL_NAMES } from '../tools/tool-set.ts';
import { parsePart } from '../serve/wire-schema.ts';
import { workspaceHooks, workspaceSkills } from '../workspace-surface.ts';

const folderSchema = z
  .string()
  .refine((path) => isAbsolute(path) && !path.includes('\0'), { message: 'Path must be absolute' })
  .nullish();
const skillsSchema = z.object({ load_project: z.boolean().default(true), project_dir: folderSchema });
const hooksSchema = z.object({ project_dir: folderSchema });

const NOTHING = { skills: [], findings: [] };

export function addExtensionRoutes(server: FastifyInstance, context: ServerContext): void {
  const { activity, config, vault } = context;
  server.get('/api/tools', () => TOOL_NAMES);
  server.get('/api/tools/', () => TOOL_NAMES);
  server.post('/api/skills', async (request) => {
    const { load_project: wanted, project_dir: given } = parsePart(skillsSchema, request.body ?? {}, 'body');
    const folder = given ?? config.workspaceDir;
    const { skills, findings } = wanted ? await activity.during(() => workspaceSkills(folder)) : NOTHING;
    return vault.deep({ skills: skills.map(wireSkill), sources: { project: skills.length }, findings });
  });
  server.post('/api/hooks', async (request) => {
    const { project_dir: given } = parsePart(hooksSchema, request.body ?? {}, 'body');
    const folder = given ?? config.workspaceDir;
    const { hooks, findings } = await activity.during(() => workspaceHooks(folder));
    if (hooks === null && findings[0] !== undefined)
      throw new HttpError(400, `Cannot read hooks: ${findings[0]}`);
    return vault.deep({ hook_config: hooks, findings });
  });
}
