/**
 * The block `agent` where its kind is `acp`: which program works in place of our own loop.
 * Owns what is written together and the refusal of an unknown name; presets are of core/.
 */
import { AGENT_PRESETS, agentOf } from '../../../core/plan/plan-agent.ts';
import type { PlanAgent } from '../../../core/plan/plan-agent.ts';
import { errorAt, type ConfigParts } from '../config-parts.ts';
import { textOf, type EffectiveValue } from '../effective-values.ts';
import type { AgentConfig } from '../deployment-config.ts';
import type { Problem } from '../problem.ts';
import type { SettingPath } from '../settings.ts';

export interface AgentBlock {
  /** Null: our own loop, or the server of OpenHands. */
  readonly agent: PlanAgent | null;
  readonly agentServer: AgentConfig;
  readonly problems: readonly Problem[];
}

export function readAgentBlock(parts: ConfigParts, values: readonly EffectiveValue[]): AgentBlock {
  const text = (path: SettingPath): string => textOf(values, path);
  const agentServer: AgentConfig = {
    // Another program takes the place of the loop, and not of the server.
    kind: text('agent.kind') === 'openhands' ? 'openhands' : 'reference',
    python: text('agent.python'),
  };
  if (text('agent.kind') !== 'acp') return { agent: null, agentServer, problems: [] };
  const { command, environment } = parts.document.agent ?? {};
  const name = text('agent.use') || (command === undefined ? '' : 'acp');
  const mode = text('agent.mode') || undefined;
  const version = text('agent.version') || undefined;
  const agent = agentOf(name, { command, environment, mode, version });
  if (agent !== null && agent.command.length > 0) return { agent, agentServer, problems: [] };
  const others = AGENT_PRESETS.filter((preset) => agentOf(preset, {})?.command.length !== 0);
  const problem = errorAt(parts, ['agent', 'use'], {
    message:
      name === '' ? 'Cannot start agents: no agent is named' : `Cannot start agents: "${name}" is no preset`,
    remedy: `write ${others.join(', ')}, or a "command"`,
  });
  return { agent: null, agentServer, problems: [problem] };
}
