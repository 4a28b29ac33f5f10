/**
 * What a conversation was launched with beside its birth: headers of its model profile, and the author of its commits.
 * Owns their place, which is sealed: a header may hold a credential (D20). Must not hold what a machine decides by.
 */
import { z } from 'zod';
import type { ConversationId } from '../core/ids.ts';
import type { SecretVault } from '../ports/secret-vault.ts';

const factsSchema = z.object({
  /** Sent with every model call of this conversation (spec "Model profile"). */
  extraHeaders: z.record(z.string(), z.string()),
  /** Null for the deployment's (D19). */
  gitAuthor: z.object({ name: z.string(), email: z.string() }).nullable(),
});

export type LaunchFacts = z.infer<typeof factsSchema>;

const FACTS = 'facts';
/** Of a conversation that nobody launched through the application API. */
const NONE: LaunchFacts = { extraHeaders: {}, gitAuthor: null };

export function launchScope(conversationId: ConversationId): string {
  return `launch/${conversationId}`;
}

export async function putLaunchFacts(
  vault: SecretVault,
  conversationId: ConversationId,
  facts: LaunchFacts,
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

export async function launchFacts(vault: SecretVault, conversationId: ConversationId): Promise<LaunchFacts> {
  return (await storedLaunchFacts(vault, conversationId)) ?? NONE;
}
