/**
 * The block `agent` where its kind is `acp`: which program works in place of our own loop.
 * Owns what is written together and the refusal of a name that nobody knows; presets are of core/.
 */
import { AGENT_PRESETS, agentOf } from '../../core/plan-agent.ts';
import type { PlanAgent } from '../../core/plan-agent.ts';
import { errorAt, type ConfigParts } from './config-parts.ts';
import { valueOf, type EffectiveValue } from './effective-values.ts';
import type { SettingPath } from './settings.ts';
import type { Problem } from './problem.ts';

export interface AgentBlock {
  /** Null: our own loop, or the server of OpenHands. */
  readonly agent: PlanAgent | null;
  readonly problems: readonly Problem[];
}

export function readAgentBlock(parts: ConfigParts, values: readonly EffectiveValue[]): AgentBlock {
  const textOf = (path: SettingPath): string => String(valueOf(values, path) ?? '');
  if (textOf('agent.kind') !== 'acp') return { agent: null, problems: [] };
  const { command, environment } = parts.document.agent ?? {};
  const name = textOf('agent.use') || (command === undefined ? '' : 'acp');
  const mode = textOf('agent.mode') || undefined;
  const version = textOf('agent.version') || undefined;
  const agent = agentOf(name, { command, environment, mode, version });
  if (agent !== null && agent.command.length > 0) return { agent, problems: [] };
  const others = AGENT_PRESETS.filter((preset) => agentOf(preset, {})?.command.length !== 0);
  const problem = errorAt(parts, ['agent', 'use'], {
    message:
      name === '' ? 'Cannot start agents: no agent is named' : `Cannot start agents: "${name}" is no preset`,
    remedy: `write ${others.join(', ')}, or a "command"`,
  });
  return { agent: null, problems: [problem] };
}
