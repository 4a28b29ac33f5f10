/**
 * What a conversation was launched with beside its spec: headers of its model profile, the author of its
 * commits, its plugins and its agent.
 * Owns their place, which is sealed: a header may hold a credential (D20). Must not hold what a machine decides by.
 */
import { z } from 'zod';
import type { ConversationId } from '../core/ids.ts';
import type { SecretVault } from '../ports/secret-vault.ts';

const pluginSchema = z.object({
  /** `owner/name`. */
  source: z.string(),
  /** Provider in `code_hosts`; null for the default one. */
  host: z.string().nullable(),
  /** Branch or tag; null for the default branch. */
  ref: z.string().nullable(),
  /** Folder in the repository; null for its root. */
  path: z.string().nullable(),
});

const setupSchema = z.object({
  command: z.string(),
  timeoutMs: z.number(),
  cache: z.array(z.string()).optional(),
});

/** How its repository is taken, beyond what its record shows. */
const repositorySchema = z.object({
  /** Tag or commit in place of a branch; null for none. */
  ref: z.string().nullable(),
  submodules: z.boolean(),
  lfs: z.boolean().default(false),
});

const agentSchema = z.object({
  name: z.string(),
  command: z.array(z.string()).readonly(),
  environment: z.record(z.string(), z.string()),
  mode: z.string().nullable(),
  version: z.string().nullable(),
});

const factsSchema = z.object({
  /** Sent with every model call of this conversation (spec "Model profile"). */
  extraHeaders: z.record(z.string(), z.string()),
  /** Null for the deployment's (D19). */
  gitAuthor: z.object({ name: z.string(), email: z.string() }).nullable(),
  /** Loaded by the Agent Server at the start, in this order. */
  plugins: z.array(pluginSchema).default([]),
  /** Run after the clone; null for none. */
  setup: setupSchema.nullable().default(null),
  /** Null: as the code host serves it. */
  repository: repositorySchema.nullable().default(null),
  /** Null: the deployment's. */
  agent: agentSchema.nullable().default(null),
});

export type LaunchFacts = z.infer<typeof factsSchema>;
export type LaunchSetup = z.infer<typeof setupSchema>;
export type LaunchRepository = z.infer<typeof repositorySchema>;
export type LaunchPlugin = z.infer<typeof pluginSchema>;

const FACTS = 'facts';
/** Of a conversation that was not launched through the application API. */
const NONE: LaunchFacts = {
  ...{ extraHeaders: {}, gitAuthor: null, plugins: [], setup: null, repository: null, agent: null },
};

/** Where the vault has the secrets of a start. */
export function launchScope(conversationId: ConversationId): string {
  return `launch/${conversationId}`;
}

/** Stores them; a repeat with the same facts changes nothing. */
export async function putLaunchFacts(
  vault: SecretVault,
  conversationId: ConversationId,
  facts: z.input<typeof factsSchema>,
): Promise<void> {
  await vault.put(launchScope(conversationId), FACTS, JSON.stringify(facts));
}

/** Null when there are none. */
export async function storedLaunchFacts(
  vault: SecretVault,
  conversationId: ConversationId,
): Promise<LaunchFacts | null> {
  const text = await vault.get(launchScope(conversationId), FACTS);
  return text === null ? null : factsSchema.parse(JSON.parse(text));
}

/** What a start over the API stored for its conversation; nothing for others. */
export async function launchFacts(vault: SecretVault, conversationId: ConversationId): Promise<LaunchFacts> {
  return (await storedLaunchFacts(vault, conversationId)) ?? NONE;
}
