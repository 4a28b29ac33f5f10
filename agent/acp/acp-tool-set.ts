/**
 * The tools of a conversation whose agent is a program of its own: it brings them, and its servers of tools are its.
 */
import type { ToolSet } from '../tools/tool-set.ts';
import type { AcpSession } from './acp-session.ts';

export function acpToolSet(session: AcpSession): ToolSet {
  return {
    tools: [],
    prepare: () => Promise.resolve(),
    arm: (servers) => session.arm(servers),
    get: () => null,
    close: () => void session.dispose().catch(() => undefined),
  };
}
