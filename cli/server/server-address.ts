/**
 * Where a service is that runs are handed to, and the key for it: what `--server` and `--api-key` say.
 * Owns where the key comes from; it is never an argument, which every process of the machine can read.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CliError } from '../../host/cli-error.ts';
import { EXIT } from '../../host/exit-code.ts';
import type { Shell } from '../../host/shell.ts';
import { API_KEY_VARIABLE } from '../command-context.ts';

export interface ServerOptions {
  readonly server?: string;
  readonly apiKey?: string;
}

export interface ServerAddress {
  /** Without a trailing slash. */
  readonly url: string;
  readonly key: string;
}

/** Null when no service is named. @throws CliError */
export function serverAddress(shell: Shell, { server, apiKey }: ServerOptions): ServerAddress | null {
  if (server === undefined) {
    if (apiKey === undefined) return null;
    throw new CliError('Cannot use --api-key: no service is named', { remedy: 'add --server URL' });
  }
  if (!/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/.test(server))
    throw new CliError(`Cannot use --server "${server}": it is no address of a service`, {
      remedy: 'write it as "parley serve" prints it, such as https://parley.example.com',
    });
  return { url: server.replace(/\/+$/, ''), key: keyOf(shell, apiKey ?? `env:${API_KEY_VARIABLE}`) };
}

/** What `env:NAME` or `file:PATH` leads to; null for nothing. @throws CliError for other spellings */
export function secretOf(
  { env, cwd }: Pick<Shell, 'env' | 'cwd'>,
  where: string,
  option: string,
): string | null {
  const [, kind, name = ''] = /^(env|file):(.+)$/.exec(where) ?? [];
  if (kind === undefined)
    throw new CliError(`Cannot use ${option}: it says where the key is, and is not the key itself`, {
      remedy: 'write env:NAME or file:PATH',
    });
  const text = kind === 'env' ? env[name] : textOf(path.resolve(cwd, name));
  return text === undefined || text === '' ? null : text;
}

function keyOf(shell: Shell, where: string): string {
  const key = secretOf(shell, where, '--api-key');
  if (key !== null) return key;
  throw new CliError(`Cannot call the service: there is no key in ${where}`, {
    remedy: 'have one issued: parley key create',
    exitCode: EXIT.unauthorized,
  });
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}
