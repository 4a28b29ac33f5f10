/**
 * From a program that has started to a session that can be prompted: what it can, its session as it was or a fresh one,
 * and its model and mode.
 * Owns the order of these calls and what becomes of a refusal; the session's life is in acp-session.ts.
 */
import { z } from 'zod';

import { ACP_ANSWER_MS } from '../limits.ts';
import { messageOf } from '../serve/log.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import { AcpError, type AcpAgent } from './acp-agent.ts';
import type { AcpConnection } from './acp-connection.ts';
import { configOptionSchema, problemOf, type ConfigOption } from './wire-updates.ts';

/** The only version of the protocol that is spoken here. */
const PROTOCOL_VERSION = 1;

const given = z.looseObject({}).nullish();
const initializedSchema = z.looseObject({
  protocolVersion: z.number(),
  agentInfo: z.looseObject({ name: z.string(), version: z.string().nullish() }).nullish(),
  agentCapabilities: z
    .looseObject({
      loadSession: z.boolean().nullish(),
      promptCapabilities: z.looseObject({ image: z.boolean().nullish() }).nullish(),
      mcpCapabilities: z.looseObject({ http: z.boolean().nullish() }).nullish(),
      sessionCapabilities: z.looseObject({ resume: given }).nullish(),
    })
    .nullish(),
});

const sessionSchema = z.looseObject({
  sessionId: z.string().min(1).max(1_000).optional(),
  modes: z
    .looseObject({
      currentModeId: z.string(),
      availableModes: z.array(z.looseObject({ id: z.string() })),
    })
    .nullish(),
  configOptions: z.array(configOptionSchema).nullish(),
});
type SessionAnswer = z.infer<typeof sessionSchema>;

export interface Capabilities {
  readonly name: string | null;
  readonly version: string | null;
  readonly canLoad: boolean;
  readonly canResume: boolean;
  readonly takesImages: boolean;
  readonly takesHttpServers: boolean;
}

interface OpenedSession {
  readonly sessionId: string;
  /** `lost`: there was a session, and the agent could not take it up again. */
  readonly origin: 'new' | 'continued' | 'lost';
  /** Why it was lost; null otherwise. */
  readonly reason: string | null;
}

/** @throws AcpError it speaks another version of the protocol, or is not the agent that was asked for */
export async function initializeAgent(connection: AcpConnection, agent: AcpAgent): Promise<Capabilities> {
  const answer = await connection.request(
    'initialize',
    {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
      clientInfo: { name: 'parley', version: '0.1.0' },
    },
    ACP_ANSWER_MS,
  );
  const {
    protocolVersion,
    agentInfo,
    agentCapabilities: can,
  } = parse(initializedSchema, answer, 'initialize');
  if (protocolVersion !== PROTOCOL_VERSION)
    throw new AcpError(
      'AgentProtocolError',
      `The agent speaks version ${protocolVersion} of the protocol, and not version ${PROTOCOL_VERSION}`,
      { isConfiguration: true },
    );
  const version = agentInfo?.version ?? null;
  if (agent.version !== null && agent.version !== version)
    throw new AcpError(
      'AgentVersionError',
      `The agent "${agent.name}" is of version ${version ?? 'unknown'}, and not ${agent.version}`,
      { isConfiguration: true },
    );
  return {
    name: agentInfo?.name ?? null,
    version,
    canLoad: can?.loadSession === true,
    canResume: can?.sessionCapabilities?.resume != null,
    takesImages: can?.promptCapabilities?.image === true,
    takesHttpServers: can?.mcpCapabilities?.http === true,
  };
}

/** Takes up the session that was, where the agent can; a fresh one where it cannot. @throws AcpError */
export async function openSession(
  connection: AcpConnection,
  around: {
    readonly agent: AcpAgent;
    readonly capabilities: Capabilities;
    readonly workingDir: string;
    readonly mcpServers: readonly unknown[];
    readonly model: string;
  },
): Promise<OpenedSession> {
  const { agent, capabilities, workingDir: cwd, mcpServers } = around;
  const known = agent.session_id;
  let reason: string | null = null;
  if (known !== null) {
    const method = capabilities.canResume ? 'session/resume' : capabilities.canLoad ? 'session/load' : null;
    try {
      if (method === null) throw new Error('it cannot load sessions');
      const answer = await connection.request(method, { sessionId: known, cwd, mcpServers }, ACP_ANSWER_MS);
      await choose(connection, known, { ...around, session: parse(sessionSchema, answer ?? {}, method) });
      return { sessionId: known, origin: 'continued', reason: null };
    } catch (error) {
      if (!connection.isOpen() || (error instanceof AcpError && error.isConfiguration)) throw error;
      reason = messageOf(error);
    }
  }
  const session = parse(
    sessionSchema,
    await connection.request('session/new', { cwd, mcpServers }, ACP_ANSWER_MS),
    'session/new',
  );
  const { sessionId } = session;
  if (sessionId === undefined)
    throw new AcpError('AgentProtocolError', 'Cannot read answer to "session/new": it names no session');
  await choose(connection, sessionId, { ...around, session });
  return { sessionId, origin: known === null ? 'new' : 'lost', reason };
}

/** Model and mode, where the session offers them as a choice. @throws AcpError a mode that is not there */
async function choose(
  connection: AcpConnection,
  sessionId: string,
  wanted: { readonly agent: AcpAgent; readonly model: string; readonly session: SessionAnswer },
): Promise<void> {
  const { agent, model, session } = wanted;
  const options = session.configOptions ?? [];
  const set = async (option: ConfigOption, value: string): Promise<void> => {
    if (option.currentValue === value) return;
    const params = { sessionId, configId: option.id, value };
    await connection.request('session/set_config_option', params, ACP_ANSWER_MS);
  };
  const models = optionOf(options, 'model');
  // Which model is asked in the end is the proxy's part; an agent without this choice has it from its variables.
  const offered = valuesOf(models).find((value) => value === model || value.endsWith(`/${model}`));
  if (models !== null && offered !== undefined) await set(models, offered);
  const { mode } = agent;
  if (mode === null) return;
  const modes = optionOf(options, 'mode');
  if (modes !== null && valuesOf(modes).includes(mode)) return await set(modes, mode);
  const others = session.modes?.availableModes.map(({ id }) => id) ?? [];
  if (others.includes(mode)) {
    if (session.modes?.currentModeId === mode) return;
    await connection.request('session/set_mode', { sessionId, modeId: mode }, ACP_ANSWER_MS);
    return;
  }
  const names = [...valuesOf(modes), ...others].join(', ') || 'none';
  throw new AcpError('AgentModeError', `The agent has no mode "${mode}"; there are: ${names}`, {
    isConfiguration: true,
  });
}

function optionOf(options: readonly ConfigOption[], category: string): ConfigOption | null {
  const fits = (option: ConfigOption): boolean => (option.category ?? option.id) === category;
  return options.find((option) => option.type === 'select' && fits(option)) ?? null;
}

/** Of a list, or of groups of lists. */
function valuesOf(option: ConfigOption | null): readonly string[] {
  return (option?.options ?? []).flatMap((each) => {
    if (each.value !== undefined) return [each.value];
    const inner = each['options'];
    return Array.isArray(inner)
      ? inner.flatMap((one: unknown) => {
          const value = typeof one === 'object' && one !== null && 'value' in one ? one.value : null;
          return typeof value === 'string' ? [value] : [];
        })
      : [];
  });
}

function parse<S extends z.ZodType>(schema: S, answer: unknown, method: string): z.output<S> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new AcpError('AgentProtocolError', `Cannot read answer to "${method}": ${problemOf(parsed.error)}`);
}

/** Tool servers in the protocol's shape. @throws AcpError one is of a kind that the agent does not take */
export function serversFor(
  servers: McpServers,
  { takesHttpServers }: Pick<Capabilities, 'takesHttpServers'>,
): readonly unknown[] {
  const pairs = (map: Readonly<Record<string, string>> | null | undefined): unknown[] =>
    Object.entries(map ?? {}).map(([name, value]) => ({ name, value }));
  const enabled = Object.entries(servers).filter(([, server]) => server.enabled);
  return enabled.map(([name, { command, args, env, url, headers }]): unknown => {
    if (!url) return { name, command: command ?? '', args: args ?? [], env: pairs(env) };
    if (takesHttpServers) return { type: 'http', name, url, headers: pairs(headers) };
    throw new AcpError(
      'AgentConfigurationError',
      `Cannot start agent: it takes no tool server over HTTP, and "${name}" is one`,
      { isConfiguration: true },
    );
  });
}
