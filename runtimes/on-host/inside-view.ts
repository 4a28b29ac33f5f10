/**
 * A sandbox as seen from inside: its paths, its loopback ports and its environment.
 * Owns what the agent server is given, by whatever runtime; must not start anything.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SandboxAddress } from '../../ports/sandbox-runtime.ts';
import { guardObject } from './guard/guard-file.ts';
import type { HostSockets } from './host-sockets.ts';
import { LOG_BYTES_MAX } from './limits.ts';
import { SERVER_GROUP, type ToolsUser } from './tools-user.ts';

/** Loopback ports that lead to the host; as seen from inside. */
export interface RoutePorts {
  readonly proxy: number;
  readonly webhook: number;
  readonly git: number;
}

/** Fixed, because every sandbox has a loopback of its own. */
export const BOUND_PORTS: RoutePorts = { proxy: 4100, webhook: 4101, git: 4102 };
/** Where a sandbox finds its way out on loopback. */
export const EGRESS_PORT = 4103;
export const HOST_SOCKET_NAMES = ['proxy', 'webhook', 'git'] as const;
/** Beside a program: the code that V8 made of it; inside/compiled-code.ts reads it under this name. */
const COMPILED_SUFFIX = '.compiled';
/** Where things are bound in a sandbox that sees nothing else of the host. */
export const INSIDE = {
  workspace: '/workspace',
  agent: '/agent',
  home: '/home/agent',
  tools: '/opt/parley',
  agentSockets: '/run/parley/agent',
  hostSockets: '/run/parley/host',
  egressSocket: '/run/parley/egress',
  guard: '/opt/parley/guard.node',
  authorities: '/opt/parley/authorities.pem',
  agentServer: '/opt/parley/agent-server.cjs',
  compiledAgent: `/opt/parley/agent-server.cjs${COMPILED_SUFFIX}`,
  sandboxInit: '/opt/parley/sandbox-init.cjs',
  /** One folder each for what is installed beside the image or /usr: other agents. */
  sharedTools: '/opt/agents',
  toolFilter: '/opt/parley/tools.bpf',
  filesAs: '/opt/parley/files-as.node',
  /** Nothing of it can be moved away by tools, whose `/run` may be their own. */
  run: '/run/parley',
  /** Opens for the Agent Server alone, where it is another user than its tools; holds the two below. */
  server: '/run/parley/server',
  serverState: '/run/parley/server/state',
  serverSockets: '/run/parley/server/socket',
  plugins: '/plugins',
} as const;
/** Callbacks leave after this many seconds: a status that arrives late delays every pause decision. */
const WEBHOOK_FLUSH_DELAY_S = 1;
/** The search path of programs inside. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Paths that differ between a namespace and a plain process. */
export interface InsideView {
  readonly workspace: string;
  readonly agent: string;
  readonly home: string;
  readonly node: string;
  /** Where programs are searched for; null: where the image says. */
  readonly searchPath: string | null;
  readonly agentServer: string;
  readonly sandboxInit: string;
  readonly agentSocket: string;
  readonly hostSockets: HostSockets;
  /** Null: nothing but the host sockets is reachable, or everything is. */
  readonly egressSocket: string | null;
  /** What programs trust, in PEM; null: their own. */
  readonly authorities: string | null;
  /** The object that closes a process to others; null where there is none. */
  readonly guard: string | null;
  /** With what the Agent Server makes a place for its tools; null: it makes none. */
  readonly toolbox: Toolbox | null;
  /** The user of its tools, where it is another one; null: the same. */
  readonly toolsUser: ToolsUser | null;
}

/** Bubblewrap, and the filter of system calls that tools get. agent/toolbox.ts uses both. */
interface Toolbox {
  readonly bwrap: string;
  readonly filter: string;
}

/** The incarnation that is meant, and its ports. */
export interface Incarnation {
  readonly sandboxId: string;
  readonly generation: number;
  readonly ports: RoutePorts;
}

/** The view of a sandbox that sees only what is bound in. */
export function boundView(
  sockets: {
    readonly hostSockets: HostSockets;
    readonly egressSocket?: string | null;
    readonly authorities?: string | null;
  },
  programs: {
    readonly node: string;
    readonly searchPath: string;
    readonly toolbox?: Toolbox | null;
    readonly toolsUser?: ToolsUser | null;
  },
): InsideView {
  const { hostSockets, egressSocket = null, authorities = null } = sockets;
  const { toolsUser = null } = programs;
  const hostSocket = (name: keyof HostSockets): string =>
    join(INSIDE.hostSockets, name, basename(hostSockets[name]));
  return {
    workspace: INSIDE.workspace,
    agent: toolsUser === null ? INSIDE.agent : INSIDE.serverState,
    home: INSIDE.home,
    node: programs.node,
    searchPath: programs.searchPath,
    toolbox: programs.toolbox ?? null,
    toolsUser,
    agentServer: INSIDE.agentServer,
    sandboxInit: INSIDE.sandboxInit,
    agentSocket: join(toolsUser === null ? INSIDE.agentSockets : INSIDE.serverSockets, 'agent.sock'),
    hostSockets: { proxy: hostSocket('proxy'), webhook: hostSocket('webhook'), git: hostSocket('git') },
    egressSocket: egressSocket === null ? null : join(INSIDE.egressSocket, basename(egressSocket)),
    authorities: authorities === null ? null : INSIDE.authorities,
    guard: guardObject(process.arch) === null ? null : INSIDE.guard,
  };
}

/** The compiled code of the Agent Server on the host; null where none was kept, as for a program made on the way. */
export function compiledAgent(agentServer: string): string | null {
  const file = `${agentServer}${COMPILED_SUFFIX}`;
  return existsSync(file) ? file : null;
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
  const options = [
    ...bridges,
    ...egress,
    ...guard,
    ...otherUserArguments(view.toolsUser, INSIDE.filesAs),
    ...log,
  ];
  return [view.node, view.sandboxInit, ...options, '--', view.agentServer];
}

/** `object` is where the first program finds what it takes the tools' user on with. */
export function otherUserArguments(user: ToolsUser | null, object: string): readonly string[] {
  if (user === null) return [];
  return ['--other-user', `${user.uid}:${user.gid}:${SERVER_GROUP}=${object}`, '--door', INSIDE.server];
}

/** The whole environment inside: nothing of the host's is inherited. The session key is not in it. */
export function insideEnvironment(view: InsideView, inside: Incarnation): Readonly<Record<string, string>> {
  return {
    ...(view.searchPath === null ? {} : { PATH: view.searchPath }),
    HOME: view.home,
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    PARLEY_SANDBOX_ID: inside.sandboxId,
    PARLEY_SANDBOX_GENERATION: String(inside.generation),
    PARLEY_AGENT_SOCKET: view.agentSocket,
    PARLEY_WORKSPACE_DIR: view.workspace,
    OH_WEBHOOKS_0_BASE_URL: `${routesOf(inside.ports).webhookUrl}/api/v1/webhooks`,
    OH_WEBHOOKS_0_FLUSH_DELAY: String(WEBHOOK_FLUSH_DELAY_S),
    OH_CONVERSATIONS_PATH: join(view.agent, 'conversations'),
    ...(view.toolbox === null
      ? {}
      : { PARLEY_TOOLBOX_BWRAP: view.toolbox.bwrap, PARLEY_TOOLBOX_FILTER: view.toolbox.filter }),
    ...(view.toolsUser === null ? {} : toolsUserVariables(view.toolsUser)),
    ...(view.egressSocket === null ? {} : egressVariables(inside.sandboxId)),
    ...(view.authorities === null ? {} : trustVariables(view.authorities)),
  };
}

/** Plugins are the tools' as well, so they are not where the Agent Server keeps its state. */
function toolsUserVariables({ uid, gid }: ToolsUser): Readonly<Record<string, string>> {
  return { PARLEY_TOOLBOX_USER: `${uid}:${gid}`, PARLEY_PLUGINS_DIR: INSIDE.plugins };
}

/**
 * Programs agree on these names, some on the lower case and some on the upper. The user of the address says whose request
 * it is in the notice of a refusal; some programs send a user only beside a password, so there is one.
 */
function egressVariables(sandboxId: string): Readonly<Record<string, string>> {
  const url = `http://${sandboxId}:sandbox@127.0.0.1:${EGRESS_PORT}`;
  const direct = 'localhost,127.0.0.1,::1';
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];
  return { ...Object.fromEntries(names.map((name) => [name, url])), NO_PROXY: direct, no_proxy: direct };
}

/** Each family of programs has a name of its own for the file of authorities. */
const TRUST_VARIABLES = [
  ...['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE', 'PIP_CERT'],
  ...['CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'CARGO_HTTP_CAINFO'],
];

function trustVariables(file: string): Readonly<Record<string, string>> {
  return Object.fromEntries(TRUST_VARIABLES.map((name) => [name, file]));
}

export function routesOf(ports: RoutePorts): SandboxAddress['routes'] {
  const url = (port: number): string => `http://127.0.0.1:${port}`;
  return { proxyUrl: url(ports.proxy), webhookUrl: url(ports.webhook), gitUrl: url(ports.git) };
}
