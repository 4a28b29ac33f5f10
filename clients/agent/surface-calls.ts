/**
 * Skills and hooks that a workspace brings: requested, and given to a server that does not read them by itself.
 * Owns these endpoints and the spelling of a skill in a start request; what is a skill is decided in the sandbox (D37).
 */
import { z } from 'zod';
import type { AgentServer, AgentTarget, WorkspaceSkill } from '../../ports/agent-server.ts';
import { jsonOf, type Caller } from './call.ts';
import { HOOKS_MAX, SKILLS_MAX } from './limits.ts';
import { parseAnswer, type BroughtBody } from './wire.ts';

const textOrNull = z
  .string()
  .nullish()
  .transform((text) => text ?? null);
const skillsSchema = z.object({
  skills: z
    .array(
      z.object({
        name: z.string(),
        type: z.enum(['repo', 'knowledge', 'agentskills']),
        content: z.string(),
        triggers: z.array(z.string()).default([]),
        description: textOrNull,
        source: textOrNull,
      }),
    )
    .max(SKILLS_MAX),
});

/** What a server knows beyond it goes back to it as it came. */
const hookSchema = z.looseObject({
  type: z.string().default('command'),
  command: z
    .string()
    .nullish()
    .transform((command) => command ?? ''),
  timeout: z.number().default(60),
  async: z.boolean().default(false),
});
const matcherSchema = z.object({
  matcher: z.string().default('*'),
  hooks: z.array(hookSchema).max(HOOKS_MAX).default([]),
});
const hooksSchema = z.object({
  hook_config: z.record(z.string(), z.array(matcherSchema).max(HOOKS_MAX)).nullish(),
});

/** Older servers read nothing of a workspace. */
const NO_ROUTE = [404];

export function createSurfaceCalls(call: Caller): Pick<AgentServer, 'skills' | 'hooks'> {
  return {
    async skills(target, folder) {
      // Of a server that knows more places, only the workspace is requested.
      const others = { load_public: false, load_user: false, load_org: false };
      const json = { load_project: true, ...others, project_dir: folder };
      const accepted = NO_ROUTE;
      const answer = await call(target, { method: 'POST', path: '/api/skills', json, accepted });
      if (answer.status === 404) return [];
      return parseAnswer(skillsSchema, jsonOf(answer)).skills;
    },
    async hooks(target, folder) {
      const json = { project_dir: folder };
      const accepted = [...NO_ROUTE, 400];
      const answer = await call(target, { method: 'POST', path: '/api/hooks', json, accepted });
      return accepted.includes(answer.status)
        ? {}
        : (parseAnswer(hooksSchema, jsonOf(answer)).hook_config ?? {});
    },
  };
}

/** The server of OpenHands takes what a folder brings from the client that starts a conversation. */
export async function broughtBody(call: Caller, target: AgentTarget, folder: string): Promise<BroughtBody> {
  const surface = createSurfaceCalls(call);
  const skills = await surface.skills(target, folder);
  const hooks = await surface.hooks(target, folder);
  return {
    ...(skills.length === 0 ? {} : { skills: skills.map(skillBody) }),
    ...(Object.keys(hooks).length === 0 ? {} : { hook_config: hooks }),
  };
}

function skillBody({ name, type, content, triggers, description, source }: WorkspaceSkill): unknown {
  return {
    ...{ name, content, description, source, is_agentskills_format: type === 'agentskills' },
    trigger: triggers.length === 0 ? null : { type: 'keyword', keywords: triggers },
  };
}
