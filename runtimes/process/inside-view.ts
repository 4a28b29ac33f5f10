/**
 * A sandbox as seen from inside: its paths, its loopback ports and its environment.
 * Owns what the agent server is told; must not start anything.
 */
import { basename, dirname, join } from 'node:path';
import type { SandboxAddress, StartSandboxRequest } from '../../ports/sandbox-runtime.ts';
import { sandboxId } from '../../core/ids.ts';
import { LOG_BYTES_MAX } from './limits.ts';
import type { HostSockets, ProcessRuntimeOptions } from './options.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import type { RoutePorts, SandboxRecord } from './sandbox-record.ts';

/** Fixed, because every sandbox has a loopback of its own. */
export const NAMESPACE_PORTS: RoutePorts = { proxy: 4100, webhook: 4101, git: 4102 };
export const HOST_SOCKET_NAMES = ['proxy', 'webhook', 'git'] as const;
/** Where things are bound in a namespace. */
export const INSIDE = {
  workspace: '/workspace',
  agent: '/agent',
  home: '/home/agent',
  tools: '/opt/parley',
  agentSockets: '/run/parley/agent',
  hostSockets: '/run/parley/host',
} as const;
/** Callbacks leave after this many seconds: a status that arrives late delays every pause decision. */
const WEBHOOK_FLUSH_DELAY_S = 1;
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Paths that differ between a namespace and a plain process. */
export interface InsideView {
  readonly workspace: string;
  readonly agent: string;
  readonly home: string;
  readonly node: string;
  readonly agentServer: string;
  readonly sandboxInit: string;
  readonly agentSocket: string;
  readonly hostSockets: HostSockets;
}

export function namespaceView(options: ProcessRuntimeOptions, node: string): InsideView {
  const hostSocket = (name: keyof HostSockets): string =>
    join(INSIDE.hostSockets, name, basename(options.hostSockets[name]));
  return {
    workspace: INSIDE.workspace,
    agent: INSIDE.agent,
    home: INSIDE.home,
    node,
    agentServer: join(INSIDE.tools, 'agent-server.cjs'),
    sandboxInit: join(INSIDE.tools, 'sandbox-init.cjs'),
    agentSocket: join(INSIDE.agentSockets, 'agent.sock'),
    hostSockets: { proxy: hostSocket('proxy'), webhook: hostSocket('webhook'), git: hostSocket('git') },
  };
}

export function plainView(options: ProcessRuntimeOptions, paths: SandboxPaths): InsideView {
  return {
    workspace: paths.workspace,
    agent: paths.agent,
    home: paths.home,
    node: process.execPath,
    ...options.programs,
    agentSocket: paths.socket,
    hostSockets: options.hostSockets,
  };
}

/** The first program and its arguments; process lists show them, so no secret is among them. */
export function initCommand(view: InsideView, ports: RoutePorts): readonly string[] {
  const bridges = HOST_SOCKET_NAMES.flatMap((name) => [
    '--bridge',
    `${ports[name]}=${view.hostSockets[name]}`,
  ]);
  const log = ['--log-bytes-max', String(LOG_BYTES_MAX)];
  return [view.node, view.sandboxInit, ...bridges, ...log, '--', view.node, view.agentServer];
}

/** The whole environment inside: nothing of the host's is inherited. */
export function insideEnvironment(
  view: InsideView,
  record: SandboxRecord,
  request: StartSandboxRequest,
): Readonly<Record<string, string>> {
  return {
    PATH: `${dirname(view.node)}:${SYSTEM_PATH}`,
    HOME: view.home,
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    PARLEY_SANDBOX_ID: record.sandboxId,
    PARLEY_SANDBOX_GENERATION: String(record.generation),
    PARLEY_AGENT_SOCKET: view.agentSocket,
    PARLEY_WORKSPACE_DIR: view.workspace,
    OH_SESSION_API_KEYS_0: request.sessionKey,
    OH_WEBHOOKS_0_BASE_URL: `${routesOf(record.ports).webhookUrl}/api/v1/webhooks`,
    OH_WEBHOOKS_0_FLUSH_DELAY: String(WEBHOOK_FLUSH_DELAY_S),
    OH_CONVERSATIONS_PATH: join(view.agent, 'conversations'),
  };
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

function routesOf(ports: RoutePorts): SandboxAddress['routes'] {
  const url = (port: number): string => `http://127.0.0.1:${port}`;
  return { proxyUrl: url(ports.proxy), webhookUrl: url(ports.webhook), gitUrl: url(ports.git) };
}
