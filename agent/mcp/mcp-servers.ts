/**
 * Tool servers of a conversation as they are configured: programs to start, or addresses to call.
 * Owns the shape, the names of secrets in it, and which of its values are kept in no file (D20). Pure.
 */
import { z } from 'zod';

import { isCredentialHeader } from '../workspace/credential-header.ts';
import { MCP_SERVERS_MAX } from '../limits.ts';
import { MASK } from '../redaction.ts';

const textMap = z.record(z.string(), z.string());

const serverSchema = z.object({
  command: z.string().min(1).nullish(),
  args: z.array(z.string()).nullish(),
  env: textMap.nullish(),
  cwd: z.string().nullish(),
  url: z
    .string()
    .regex(/^https?:\/\//)
    .nullish(),
  headers: textMap.nullish(),
  /** Seconds of one call. */
  timeout: z.number().positive().nullish(),
  enabled: z.boolean().default(true),
});
export type McpServer = z.infer<typeof serverSchema>;
export type McpServers = Readonly<Record<string, McpServer>>;

export const mcpServersSchema = z
  .record(z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/), serverSchema)
  .refine((servers) => Object.keys(servers).length <= MCP_SERVERS_MAX, {
    message: `At most ${MCP_SERVERS_MAX} tool servers`,
  })
  .refine((servers) => Object.values(servers).every(({ command, url }) => !command !== !url), {
    message: 'A tool server has either a command or a url',
  });

/** `{name: server}`, or the same below `mcpServers`, as files of other programs have it. */
export const mcpConfigSchema = z.preprocess((value) => {
  const isNested = typeof value === 'object' && value !== null && 'mcpServers' in value;
  return isNested ? value.mcpServers : value;
}, mcpServersSchema);

const SECRET_NAME = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;
/** Variables whose value is a credential, by their name. */
const CREDENTIAL_VARIABLE = /token|secret|key|passw|credential/i;

/** Values that stand in the configuration itself and must be masked wherever they show up. */
export function literalSecrets(servers: McpServers): string[] {
  return Object.values(servers).flatMap(({ env, headers }) => [
    ...Object.entries(env ?? {}).flatMap(([name, value]) => (isLiteral(name, value) ? [value] : [])),
    ...Object.entries(headers ?? {}).flatMap(([name, value]) =>
      isCredentialHeader(name) && !value.includes('${') ? [value] : [],
    ),
  ]);
}

function isLiteral(name: string, value: string): boolean {
  return CREDENTIAL_VARIABLE.test(name) && !value.includes('${');
}

/** A value that was masked on its way to the disk, or a secret that is not there. */
export class McpConfigError extends Error {}

/**
 * The server with `${NAME}` filled in from secrets; `${NAME:-word}` has a word for when there is none.
 *
 * @throws McpConfigError a secret is missing, or a value was not kept over a restart
 */
export function expandServer(
  name: string,
  server: McpServer,
  secrets: Readonly<Record<string, string>>,
): McpServer {
  const fill = (text: string): string => {
    if (text.includes(MASK))
      throw new McpConfigError(
        `Cannot connect tool server "${name}": a secret value of it is not kept over a restart; name it as \${NAME}`,
      );
    return text.replace(SECRET_NAME, (_all, secret: string, fallback: string | undefined) => {
      const value = secrets[secret] ?? fallback;
      if (value !== undefined) return value;
      throw new McpConfigError(`Cannot connect tool server "${name}": there is no secret "${secret}"`);
    });
  };
  const fillMap = (map: Readonly<Record<string, string>> | null | undefined): Record<string, string> =>
    Object.fromEntries(Object.entries(map ?? {}).map(([key, value]) => [key, fill(value)]));
  return {
    ...server,
    ...(server.command ? { command: fill(server.command) } : {}),
    args: (server.args ?? []).map(fill),
    env: fillMap(server.env),
    headers: fillMap(server.headers),
    ...(server.url ? { url: fill(server.url) } : {}),
  };
}
