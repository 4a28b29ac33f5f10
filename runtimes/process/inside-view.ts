/**
 * A sandbox as seen from inside: its paths, its loopback ports and its environment.
 * Owns what the agent server is told; must not start anything.
 */
import { basename, dirname, join } from 'node:path';
import type { SandboxAddress } from '../../ports/sandbox-runtime.ts';
import { sandboxId } from '../../core/ids.ts';
import { guardObject } from './guard-object.ts';
import { LOG_BYTES_MAX } from './limits.ts';
import type { HostSockets, ProcessRuntimeOptions } from './options.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import type { RoutePorts, SandboxRecord } from './sandbox-record.ts';

/** Fixed, because every sandbox has a loopback of its own. */
export const NAMESPACE_PORTS: RoutePorts = { proxy: 4100, webhook: 4101, git: 4102 };
export const EGRESS_PORT = 4103;
export const HOST_SOCKET_NAMES = ['proxy', 'webhook', 'git'] as const;
/** Where things are bound in a namespace. */
export const INSIDE = {
  workspace: '/workspace',
  agent: '/agent',
  home: '/home/agent',
  tools: '/opt/parley',
  agentSockets: '/run/parley/agent',
  hostSockets: '/run/parley/host',
  egressSocket: '/run/parley/egress',
  guard: '/opt/parley/guard.node',
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
  /** Null: nothing but the host sockets is reachable, or everything is. */
  readonly egressSocket: string | null;
  /** The object that closes a process to others; null where there is none. */
  readonly guard: string | null;
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
    egressSocket:
      options.egressSocket == null ? null : join(INSIDE.egressSocket, basename(options.egressSocket)),
    guard: guardObject(process.arch) === null ? null : INSIDE.guard,
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
    egressSocket: null,
    guard: null,
  };
}

/** The first program and its arguments; process lists show them, so no secret is among them. */
export function initCommand(view: InsideView, ports: RoutePorts): readonly string[] {
  const bridges = HOST_SOCKET_NAMES.flatMap((name) => [
    '--bridge',
    `${ports[name]}=${view.hostSockets[name]}`,
  ]);
  const egress = view.egressSocket === null ? [] : ['--bridge', `${EGRESS_PORT}=${view.egressSocket}`];
  const guard = view.guard === null ? [] : ['--guard', view.guard];
  const log = ['--log-bytes-max', String(LOG_BYTES_MAX)];
  return [view.node, view.sandboxInit, ...bridges, ...egress, ...guard, ...log, '--', view.agentServer];
}

/** The whole environment inside: nothing of the host's is inherited. The session key is not in it. */
export function insideEnvironment(view: InsideView, record: SandboxRecord): Readonly<Record<string, string>> {
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
    OH_WEBHOOKS_0_BASE_URL: `${routesOf(record.ports).webhookUrl}/api/v1/webhooks`,
    OH_WEBHOOKS_0_FLUSH_DELAY: String(WEBHOOK_FLUSH_DELAY_S),
    OH_CONVERSATIONS_PATH: join(view.agent, 'conversations'),
    ...(view.egressSocket === null ? {} : egressVariables()),
  };
}

/** Programs agree on these names, some on the lower case and some on the upper. */
function egressVariables(): Readonly<Record<string, string>> {
  const url = `http://127.0.0.1:${EGRESS_PORT}`;
  const direct = 'localhost,127.0.0.1,::1';
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];
  return { ...Object.fromEntries(names.map((name) => [name, url])), NO_PROXY: direct, no_proxy: direct };
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
