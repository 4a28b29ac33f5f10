/**
 * Skills: texts that explain to an agent how something is done here, and when each is shown to it.
 * Owns their form in memory and on the wire, and which a message calls for; skill-file.ts reads them.
 * A skill never runs anything by itself.
 */
import { z } from 'zod';

export const storedSkillSchema = z.object({
  name: z.string(),
  content: z.string(),
  /** Words in a message that call for it; empty means that it always holds. */
  triggers: z.array(z.string()),
  /** Says what it is for; the agent reads the file itself when it needs it. Null: its text is shown at once. */
  description: z.string().nullable(),
  /** Absolute path; null for one that came with a request. */
  source: z.string().nullable(),
});
export type Skill = z.infer<typeof storedSkillSchema>;

/** A skill as a request gives it. */
export const requestSkillSchema = z.object({
  name: z.string(),
  content: z.string().default(''),
  description: z.string().nullish(),
  source: z.string().nullish(),
  is_agentskills_format: z.boolean().default(false),
  trigger: z
    .object({ keywords: z.array(z.string()).nullish(), triggers: z.array(z.string()).nullish() })
    .nullish(),
});

export function requestSkills(skills: readonly z.infer<typeof requestSkillSchema>[]): Skill[] {
  return skills.map(({ name, content, trigger, source, description, is_agentskills_format: isOffered }) => {
    const triggers = [...(trigger?.keywords ?? []), ...(trigger?.triggers ?? [])];
    return {
      ...{ name, content, triggers, source: source ?? null },
      description: isOffered && triggers.length === 0 ? (description ?? name) : null,
    };
  });
}

/** A skill as responses show it. */
export function wireSkill({
  name,
  content,
  triggers,
  description,
  source,
}: Skill): Readonly<Record<string, unknown>> {
  const type = description !== null ? 'agentskills' : triggers.length > 0 ? 'knowledge' : 'repo';
  return { name, type, content, triggers, source, description, is_agentskills_format: description !== null };
}

/** What the system prompt says of skills: texts that always hold, and a list of those to read when they fit. */
export function standingText(skills: readonly Skill[]): string {
  // One that came with a request has no file that the agent could read.
  const isOffered = ({ description, source }: Skill): boolean => description !== null && source !== null;
  const always = skills.filter(({ triggers }) => triggers.length === 0);
  const standing = always.filter((skill) => !isOffered(skill));
  const offered = always.filter(isOffered);
  const texts = standing.map(({ name, content }) => `<skill name="${name}">\n${content}\n</skill>`);
  const list = offered.map(({ name, description, source }) => `- ${name}: ${description} (${source})`);
  const offer =
    list.length === 0 ? [] : [`Read the file of a skill before you do what it is for:\n${list.join('\n')}`];
  return [...texts, ...offer].join('\n\n');
}

/** Skills that a message calls for by one of their triggers, without those that were shown before. */
export function skillsFor(message: string, skills: readonly Skill[], shown: ReadonlySet<string>): Skill[] {
  const text = message.toLowerCase();
  return skills.filter(({ name, triggers }) => {
    return !shown.has(name) && triggers.some((trigger) => text.includes(trigger.toLowerCase()));
  });
}
