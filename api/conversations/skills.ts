/**
 * Skills and hooks that a workspace brings, as clients see them.
 * Owns their form on the wire; where they lie and what is one is the Agent Server's, which gives its agents the same (D37).
 */
import { z } from 'zod';
import type { World } from '../../activities/world.ts';
import type { Workspace } from './workspace.ts';

export const skillSchema = z
  .object({
    name: z.string(),
    type: z.enum(['repo', 'knowledge', 'agentskills']),
    content: z.string(),
    triggers: z.array(z.string()),
    description: z.string().nullable(),
  })
  .meta({ id: 'Skill' });
type Skill = z.output<typeof skillSchema>;

export async function skillsOf(world: World, { target, workingDir }: Workspace): Promise<Skill[]> {
  const skills = await world.agent.skills(target, workingDir);
  return skills.map(({ name, type, content, triggers, description }) => ({
    ...{ name, type, content, triggers: [...triggers], description },
  }));
}

const EVENT_TYPES = [
  'pre_tool_use',
  'post_tool_use',
  'user_prompt_submit',
  'session_start',
  'session_end',
  'stop',
] as const;

const commandSchema = z
  .object({
    type: z.string(),
    command: z.string(),
    timeout: z.number(),
    async: z.boolean(),
  })
  .meta({ id: 'HookCommand' });

export const hookSchema = z
  .object({
    event_type: z.enum(EVENT_TYPES),
    matchers: z.array(z.object({ matcher: z.string(), hooks: z.array(commandSchema) })),
  })
  .meta({ id: 'Hook' });
type Hook = z.output<typeof hookSchema>;

/** Events that have any, in the order of an agent's day. */
export async function hooksOf(world: World, { target, workingDir }: Workspace): Promise<Hook[]> {
  const hooks = await world.agent.hooks(target, workingDir);
  return EVENT_TYPES.flatMap((eventType) => {
    const matchers = (hooks[eventType] ?? []).map(({ matcher, hooks: commands }) => ({
      matcher,
      hooks: commands.map(({ type, command, timeout, async }) => ({ type, command, timeout, async })),
    }));
    return matchers.length === 0 ? [] : [{ event_type: eventType, matchers }];
  });
}
