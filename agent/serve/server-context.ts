/**
 * What the routes share: configuration, parts of the server and two views of a conversation.
 * Owns types only; nothing here runs.
 */
import type { Activity } from '../activity.ts';
import type { AgentServerConfig } from '../config.ts';
import type { ConversationRegistry, Entry } from '../conversation/conversation-registry.ts';
import type { SecretVault } from '../secret-vault.ts';
import type { World } from '../world.ts';

export interface ServerContext {
  readonly config: AgentServerConfig;
  readonly world: World;
  readonly activity: Activity;
  readonly vault: SecretVault;
  readonly registry: ConversationRegistry;
  /** A conversation as responses show it; its skills, which are long, where they are requested. */
  readonly info: (entry: Entry, shown: { readonly withSkills: boolean }) => Record<string, unknown>;
  readonly announce: (entry: Entry) => void;
  /** Resolves once the stored conversations are loaded; requests wait for it. */
  readonly loaded: Promise<void>;
  /** Fires when the server stops, so that long calls end. */
  readonly stopping: AbortSignal;
}
