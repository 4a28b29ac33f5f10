/**
 * Whether the programs of the agents that a plan chooses are where sandboxes of the process runtime search for them.
 * Owns the search; what an image has is not seen from here.
 */
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { knownItems } from '../../core/plan/known-items.ts';
import { AGENT_PACKAGES, type PlanAgent } from '../../core/plan/plan-agent.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { SYSTEM_PATH } from '../../runtimes/on-host/inside-view.ts';
import { installedAgents, type InstalledAgent } from '../sandboxes/installed-agents.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { failed, passed, type Finding } from '../finding.ts';

type Places = Pick<DeploymentConfig, 'runtimeKind' | 'dataDir' | 'deployment'>;

export function checkAgents(plan: Plan, config: Places): readonly Finding[] {
  if (config.runtimeKind !== 'process') return [];
  const installed = installedAgents(config.dataDir);
  return agentsOf(plan, config.deployment.agent ?? null).map((agent) => checkAgent(agent, installed));
}

/** One for each command and version: what a sandbox is started with besides makes no difference here. */
export function agentsOf(plan: Plan, deployments: PlanAgent | null): readonly PlanAgent[] {
  const agents = new Map<string, PlanAgent>();
  for (const { agent = deployments } of knownItems(plan)) {
    if (agent === null || agent.command.length === 0) continue;
    agents.set(`${agent.command[0] ?? ''}\n${agent.version ?? ''}`, agent);
  }
  return [...agents.values()];
}

/** The one whose program a sandbox finds under the command of the agent; null for none. */
export function providerOf(
  { command: [program = ''] }: PlanAgent,
  installed: readonly InstalledAgent[],
): InstalledAgent | null {
  return (
    installed.find(({ folder }) => !program.includes('/') && isProgram(path.join(folder, 'bin', program))) ??
    null
  );
}

function checkAgent(agent: PlanAgent, installed: readonly InstalledAgent[]): Finding {
  const { name, version, command } = agent;
  const [program = ''] = command;
  const check = `agent ${name}`;
  const provider = providerOf(agent, installed);
  if (provider !== null) {
    if (version === null || version === provider.version) return passed(check, `${name} ${provider.version}`);
    return failed(
      check,
      `the job asks for ${version}, and ${provider.version} is installed`,
      addText(name, version),
    );
  }
  const places = program.includes('/') ? [program] : searchPath().map((folder) => path.join(folder, program));
  // A relative one lies in the workspace, and a shell's words are its own.
  if (!path.isAbsolute(program) && program.includes('/')) return passed(check, program);
  const found = places.find(isProgram);
  if (found !== undefined) return passed(check, found);
  return failed(check, `there is no program "${program}" that sandboxes would find`, addText(name, version));
}

function searchPath(): readonly string[] {
  return [path.dirname(process.execPath), ...SYSTEM_PATH.split(':')];
}

function addText(name: string, version: string | null): string {
  const known = Object.hasOwn(AGENT_PACKAGES, name);
  const what = version === null ? name : `${name}@${version}`;
  return known
    ? `install it: parley agent add ${what}`
    : `install it: parley agent add ${name} --from DIR --command PROGRAM`;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
