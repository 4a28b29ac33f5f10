/**
 * How a plain process sees itself, and how the outside reaches a sandbox of this runtime.
 * Owns their paths; must not start anything.
 */
import { dirname, join } from 'node:path';
import { sandboxId } from '../../core/ids.ts';
import type { SandboxAddress } from '../../ports/sandbox-runtime.ts';
import { INSIDE, SYSTEM_PATH, routesOf, type InsideView } from '../on-host/inside-view.ts';
import type { ProcessRuntimeOptions, SharedTool } from './options.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import type { SandboxRecord } from './sandbox-record.ts';

export function plainView(options: ProcessRuntimeOptions, paths: SandboxPaths): InsideView {
  return {
    workspace: paths.workspace,
    agent: paths.agent,
    home: paths.home,
    node: process.execPath,
    searchPath: [
      dirname(process.execPath),
      ...toolPaths(options.tools?.() ?? [], ({ folder }) => folder),
      SYSTEM_PATH,
    ].join(':'),
    ...options.programs,
    agentSocket: paths.offeredSocket,
    hostSockets: options.hostSockets,
    egressSocket: null,
    authorities: options.authorities ?? null,
    guard: null,
    toolbox: null,
    toolsUser: null,
  };
}

/** Folders of programs, behind Node's own: nothing of a tool takes the place of that. */
export function toolPaths(
  tools: readonly SharedTool[],
  place: (tool: SharedTool) => string,
): readonly string[] {
  return tools.map((tool) => join(place(tool), 'bin'));
}

/** Where a sandbox in a namespace sees a tool. */
export function placeOfTool({ name }: Pick<SharedTool, 'name'>): string {
  return join(INSIDE.sharedTools, name);
}

export function addressOf(record: SandboxRecord, paths: SandboxPaths): SandboxAddress {
  return {
    sandboxId: sandboxId(record.sandboxId),
    generation: record.generation,
    agent: { socketPath: paths.socket },
    routes: routesOf(record.ports),
    workspaceDir: record.isolation === 'namespaces' ? INSIDE.workspace : paths.workspace,
  };
}
