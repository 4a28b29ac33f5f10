/** Types of acp-agents.js. */
type Environment = Readonly<Record<string, string | undefined>>;

export const OPENCODE_VERSION: string;
export function opencodeFolder(env: Environment): string | null;
export function acpAgentsMissing(env: Environment): string | null;
export function installAcpAgents(
  env: Environment,
): Promise<{ readonly name: string; readonly ok: boolean; readonly line: string }>;
