/**
 * The server's configuration. Owns names, defaults and checks of the environment variables.
 * Never reads arguments: process lists are public.
 */
import { join } from 'node:path';
import { z } from 'zod';

import { PLUGIN_CACHE } from './limits.ts';

export interface WebhookConfig {
  /** No trailing slash. */
  readonly baseUrl: string;
  /** Events that fill a batch. */
  readonly bufferSize: number;
  readonly flushDelayMs: number;
  readonly retriesMax: number;
  readonly retryDelayMs: number;
}

export type ListenAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number };

export interface AgentServerConfig {
  readonly listen: ListenAddress;
  /** Null means an open server. */
  readonly sessionKey: string | null;
  readonly conversationsDir: string;
  readonly workspaceDir: string;
  /** Clones of plugins: read by the server, written and run by tools. */
  readonly pluginsDir: string;
  readonly webhook: WebhookConfig | null;
}

/** A value that the server cannot start with; the message names the variable, never a secret. */
export class ConfigError extends Error {}

const seconds = (fallback: number): z.ZodType<number> =>
  z.coerce.number().min(0).max(86_400).default(fallback);

const environmentSchema = z.object({
  PARLEY_AGENT_SOCKET: z.string().optional(),
  PARLEY_AGENT_HOST: z.string().default('127.0.0.1'),
  PARLEY_AGENT_PORT: z.coerce.number().int().min(0).max(65_535).default(8000),
  OH_SESSION_API_KEYS_0: z.string().optional(),
  OH_CONVERSATIONS_PATH: z.string().optional(),
  PARLEY_WORKSPACE_DIR: z.string().optional(),
  PARLEY_PLUGINS_DIR: z.string().optional(),
  OH_WEBHOOKS_0_BASE_URL: z.string().optional(),
  OH_WEBHOOKS_0_EVENT_BUFFER_SIZE: z.coerce.number().int().min(1).max(100).default(5),
  OH_WEBHOOKS_0_FLUSH_DELAY: seconds(30),
  OH_WEBHOOKS_0_NUM_RETRIES: z.coerce.number().int().min(0).max(20).default(3),
  OH_WEBHOOKS_0_RETRY_DELAY: seconds(5),
});

/**
 * Reads the configuration and deletes the session key from `environment`, so that no shell inherits it.
 *
 * @throws ConfigError a variable has a value outside its range
 */
export function readConfig(
  environment: Record<string, string | undefined>,
  workingDir: string,
): AgentServerConfig {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = environmentSchema.safeParse(set);
  delete environment['OH_SESSION_API_KEYS_0'];
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ConfigError(`Cannot read configuration: ${String(issue?.path[0])}: ${issue?.message}`);
  }
  const values = parsed.data;
  const socket = values.PARLEY_AGENT_SOCKET;
  const conversationsDir = values.OH_CONVERSATIONS_PATH ?? join(workingDir, 'conversations');
  return {
    listen:
      socket === undefined
        ? { kind: 'tcp', host: values.PARLEY_AGENT_HOST, port: values.PARLEY_AGENT_PORT }
        : { kind: 'socket', path: socket },
    sessionKey: values.OH_SESSION_API_KEYS_0 ?? null,
    conversationsDir,
    workspaceDir: values.PARLEY_WORKSPACE_DIR ?? workingDir,
    pluginsDir: values.PARLEY_PLUGINS_DIR ?? join(conversationsDir, PLUGIN_CACHE),
    webhook: readWebhook(values),
  };
}

function readWebhook(values: z.infer<typeof environmentSchema>): WebhookConfig | null {
  const baseUrl = values.OH_WEBHOOKS_0_BASE_URL;
  if (baseUrl === undefined) return null;
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    bufferSize: values.OH_WEBHOOKS_0_EVENT_BUFFER_SIZE,
    flushDelayMs: values.OH_WEBHOOKS_0_FLUSH_DELAY * 1000,
    retriesMax: values.OH_WEBHOOKS_0_NUM_RETRIES,
    retryDelayMs: values.OH_WEBHOOKS_0_RETRY_DELAY * 1000,
  };
}
