/**
 * Which agent works in a conversation of a plan: ours, or a program of the sandbox that speaks the Agent Client
 * Protocol. Owns the shape of that choice, and the presets, which only set a command and variables.
 */

/** A program that speaks the Agent Client Protocol and works on an item. */
export interface PlanAgent {
  /** As the job names it; reports distinguish agents by it. */
  readonly name: string;
  /** The program and its arguments; empty: our own agent. */
  readonly command: readonly string[];
  /** `${NAME}` in a value stands for a secret of the conversation, or for LLM_BASE_URL, LLM_API_KEY, LLM_MODEL or AGENT_HOME. */
  readonly environment: Readonly<Record<string, string>>;
  /** The mode its sessions begin in; null: its own choice. */
  readonly mode: string | null;
  /** The version that the program must report; null: any. */
  readonly version: string | null;
}

/** Our own loop, whatever the deployment has for others. */
export const REFERENCE_AGENT = 'reference';

type Preset = Pick<PlanAgent, 'command' | 'environment'>;

/**
 * OpenCode takes its whole configuration from a variable. One provider, so that nothing leads to another host; and
 * every change needs a confirmation, so that the policy of the conversation decides.
 */
const OPENCODE_CONFIG = {
  autoupdate: false,
  share: 'disabled',
  enabled_providers: ['parley'],
  model: 'parley/${LLM_MODEL}',
  small_model: 'parley/${LLM_MODEL}',
  provider: {
    parley: {
      npm: '@ai-sdk/openai-compatible',
      name: 'Parley',
      options: { baseURL: '${LLM_BASE_URL}', apiKey: '{env:LLM_API_KEY}' },
      models: { '${LLM_MODEL}': { name: '${LLM_MODEL}' } },
    },
  },
  permission: { bash: 'ask', edit: 'ask', webfetch: 'ask' },
};

/**
 * Codex wants an account unless a provider of its own is configured, and speaks the Responses API alone. Its own
 * sandbox cannot be made inside of ours, so it begins in the mode without one, which never requests a confirmation.
 */
const CODEX_CONFIG = {
  model: '${LLM_MODEL}',
  model_provider: 'parley',
  model_providers: {
    parley: {
      name: 'Parley',
      base_url: '${LLM_BASE_URL}',
      env_key: 'LLM_API_KEY',
      wire_api: 'responses',
    },
  },
  check_for_update_on_startup: false,
};

const CODEX_UNASKED_MODE = 'agent-full-access';

/** By the name that a job writes. The programs are those of the image, or of the host where sandboxes see it. */
const PRESETS: Readonly<Record<string, Preset>> = {
  [REFERENCE_AGENT]: { command: [], environment: {} },
  opencode: {
    command: ['opencode', 'acp'],
    environment: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(OPENCODE_CONFIG),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    },
  },
  'claude-code': {
    command: ['claude-agent-acp'],
    environment: {
      CLAUDE_CONFIG_DIR: '${AGENT_HOME}',
      ANTHROPIC_SMALL_FAST_MODEL: '${LLM_MODEL}',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  },
  codex: {
    command: ['codex-acp'],
    environment: {
      CODEX_HOME: '${AGENT_HOME}',
      CODEX_CONFIG: JSON.stringify(CODEX_CONFIG),
      MODEL_PROVIDER: 'parley',
      INITIAL_AGENT_MODE: CODEX_UNASKED_MODE,
      NO_BROWSER: '1',
    },
  },
  gemini: {
    command: ['gemini', '--experimental-acp'],
    environment: {
      GEMINI_API_KEY: '${LLM_API_KEY}',
      GEMINI_MODEL: '${LLM_MODEL}',
      // It would send the key of the conversation to its vendor.
      GOOGLE_GEMINI_BASE_URL: '${LLM_BASE_URL}',
      GEMINI_TELEMETRY_ENABLED: 'false',
    },
  },
};

/** False for Codex in the mode that its preset begins in: a policy that needs confirmations would get no request. */
export function asksBeforeActing({ environment, mode }: PlanAgent): boolean {
  return mode !== null || environment['INITIAL_AGENT_MODE'] !== CODEX_UNASKED_MODE;
}

/** Packages of npm that have the program of a preset, for the operator who installs it. */
export const AGENT_PACKAGES: Readonly<Record<string, string>> = {
  opencode: 'opencode-ai',
  'claude-code': '@agentclientprotocol/claude-agent-acp',
  codex: '@agentclientprotocol/codex-acp',
  gemini: '@google/gemini-cli',
};

/** Names under which a job may choose an agent without writing its command. */
export const AGENT_PRESETS: readonly string[] = Object.keys(PRESETS);

/** Null: the name is no preset, and there is no command. What is written wins over the preset. */
export function agentOf(
  name: string,
  written: {
    readonly command?: readonly string[] | undefined;
    readonly environment?: Readonly<Record<string, string>> | undefined;
    readonly mode?: string | undefined;
    readonly version?: string | undefined;
  },
): PlanAgent | null {
  const preset = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
  const command = written.command ?? preset?.command;
  if (command === undefined) return null;
  return {
    name,
    command,
    environment: { ...preset?.environment, ...written.environment },
    mode: written.mode ?? null,
    version: written.version ?? null,
  };
}
