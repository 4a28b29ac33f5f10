/** Types of acp-agents.js. */
import type { Environment, Installed } from './tool-cache.js';

export type InstalledAgentName = 'opencode' | 'claude-code' | 'codex';

export const AGENT_VERSIONS: Readonly<Record<InstalledAgentName, string>>;

/** The folder of an agent's version above; null when it is not installed. */
export function agentFolder(name: InstalledAgentName, env: Environment): string | null;

/** Null when all are installed, else the sentence that says what is missing. */
export function acpAgentsMissing(env: Environment): string | null;

/** Installs what is missing; resolves with one line for each agent that says how it went. */
export function installAcpAgents(env: Environment): Promise<readonly Installed[]>;
