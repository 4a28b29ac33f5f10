/**
 * Which program speaks the Agent Client Protocol for a conversation, and with which variables it is started.
 * Owns the shape and the variables that lead its model calls to the proxy (D19); starts nothing. Pure.
 */
import { z } from 'zod';

import { MASK } from '../redaction.ts';

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const acpEnvironmentSchema = z.record(
  z.string().regex(VARIABLE_NAME, 'Expected the name of a variable'),
  z.string().max(65_536),
);

/** As it is kept on the disk: what is secret in it is masked there. */
export const acpAgentSchema = z.object({
  name: z.string(),
  /** The program and its arguments. */
  command: z.array(z.string()).min(1),
  environment: acpEnvironmentSchema,
  /** The mode a session begins in; null: the agent's own choice. */
  mode: z.string().nullable(),
  /** What it must say of itself, or no session is begun; null: any. */
  version: z.string().nullable(),
  /** Its own name of the session; null before the first one. */
  session_id: z.string().nullable(),
  /** The newest message it was given. */
  prompted_event_id: z.string().nullable(),
  /** What it said of itself. */
  told_name: z.string().nullable(),
  told_version: z.string().nullable(),
});
export type AcpAgent = z.infer<typeof acpAgentSchema>;

/** Something about the agent's program that ends a run; the message says what, and never a value of a variable. */
export class AcpError extends Error {
  readonly code: string;
  readonly isConfiguration: boolean;

  constructor(code: string, message: string, options: { readonly isConfiguration?: boolean } = {}) {
    super(message);
    this.code = code;
    this.isConfiguration = options.isConfiguration ?? false;
  }
}

interface ModelAccess {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | null;
}

/** Where agents keep what they know of their sessions: what is in the home of a sandbox does not outlive a stop. */
function stateVariables(home: string): Record<string, string> {
  return { AGENT_HOME: home, XDG_DATA_HOME: `${home}/share`, XDG_STATE_HOME: `${home}/state` };
}

/**
 * The variables by which the libraries of vendors find the proxy. They are set for every agent, so that none that is
 * left to its defaults asks a vendor's host, which a sandbox does not reach.
 */
function modelVariables({ baseUrl, model, apiKey }: ModelAccess): Record<string, string> {
  const key = apiKey ?? '';
  // Anthropic's libraries add the version to the address themselves.
  const root = baseUrl.replace(/\/v1\/?$/, '');
  return {
    OPENAI_BASE_URL: baseUrl,
    OPENAI_API_BASE: baseUrl,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: root,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: model,
    LLM_BASE_URL: baseUrl,
    LLM_API_KEY: key,
    LLM_MODEL: model,
  };
}

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * Everything the agent's program finds in its environment: `base`, then the way to the model, then its own variables,
 * in which `${NAME}` stands for a secret or for one of the variables of the model.
 *
 * @throws AcpError a variable names what is not there, or holds a value that was not kept over a restart
 */
export function agentVariables(given: {
  readonly base: Readonly<Record<string, string>>;
  readonly agent: Pick<AcpAgent, 'environment'>;
  readonly access: ModelAccess;
  readonly secrets: Readonly<Record<string, string>>;
  /** A folder that is there after a stop. */
  readonly home: string;
}): Record<string, string> {
  const ofModel = { ...modelVariables(given.access), ...stateVariables(given.home) };
  const known: Readonly<Record<string, string>> = { ...given.secrets, ...ofModel };
  const own = Object.entries(given.agent.environment).map(([name, text]) => [name, fill(name, text, known)]);
  return { ...given.base, ...ofModel, ...(Object.fromEntries(own) as Record<string, string>) };
}

function fill(variable: string, text: string, known: Readonly<Record<string, string>>): string {
  const refuse = (why: string): never => {
    throw new AcpError('AgentConfigurationError', `Cannot start agent: variable "${variable}" ${why}`, {
      isConfiguration: true,
    });
  };
  if (text.includes(MASK))
    refuse('holds a secret value, which is not kept over a restart; name it as ${NAME}');
  return text.replace(REFERENCE, (_all, name: string) => known[name] ?? refuse(`names no secret: "${name}"`));
}
