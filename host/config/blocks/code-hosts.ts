/**
 * The block `code_hosts`: templates checked by the code that uses them, tokens opened (D19).
 * Owns paths and references of the block; must not connect anywhere.
 */
import path from 'node:path';
import type { GivenHostApi } from '../../../clients/code-hosts/api/api-of-host.ts';
import { ParleyError } from '../../../core/parley-error.ts';
import type { CodeHostKind } from '../../../core/plan/plan-issue.ts';
import { defined } from '../../../dsl/defined.ts';
import { errorAt, openReference, type ConfigParts } from '../config-parts.ts';
import type { CodeHostConfig } from '../deployment-config.ts';
import type { Problem } from '../problem.ts';

export async function readCodeHosts(parts: ConfigParts): Promise<{
  readonly hosts: Readonly<Record<string, CodeHostConfig>>;
  readonly tokens: Readonly<Record<string, string>>;
  readonly problems: readonly Problem[];
}> {
  const written = Object.entries(parts.document.code_hosts ?? {});
  const problems: Problem[] = [];
  const hosts: Record<string, CodeHostConfig> = {};
  const tokens: Record<string, string> = {};
  for (const [name, host] of written) {
    const url = absoluteUrl(host.url, parts.baseDir);
    const problem = await templateProblem(name, url);
    if (problem !== null)
      problems.push(errorAt(parts, ['code_hosts', name, 'url'], { message: problem, remedy: null }));
    const token = host.token === undefined ? null : openReference(host.token, parts.env);
    if (token !== null) tokens[name] = token;
    else if (host.token !== undefined) problems.push(unsetToken(parts, name, host.token));
    hosts[name] = { url, default: host.default ?? false, api: givenApi(host.api) };
  }
  const defaults = written.filter(([, host]) => host.default === true).map(([name]) => name);
  const second = defaults[1];
  if (second !== undefined) {
    const message = `Cannot use code hosts: "${defaults.join('", "')}" are all the default`;
    problems.push(errorAt(parts, ['code_hosts', second, 'default'], { message, remedy: 'keep one default' }));
  }
  return { hosts, tokens, problems };
}

function givenApi(
  api: { readonly kind?: CodeHostKind | undefined; readonly url?: string | undefined } | undefined,
): GivenHostApi | null {
  return api === undefined ? null : defined({ kind: api.kind, url: api.url });
}

function absoluteUrl(url: string, baseDir: string): string {
  if (!url.startsWith('file:') || url.startsWith('file://')) return url;
  return `file:${path.resolve(baseDir, url.slice('file:'.length))}`;
}

async function templateProblem(name: string, url: string): Promise<string | null> {
  const { createCodeHosts } = await import('../../../clients/code-hosts/code-hosts.ts');
  try {
    createCodeHosts({ hosts: { [name]: { url } } });
    return null;
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'config_invalid') return error.message;
    throw error;
  }
}

function unsetToken(parts: ConfigParts, name: string, reference: string): Problem {
  const variable = reference.slice('os.environ/'.length);
  return errorAt(parts, ['code_hosts', name, 'token'], {
    message: `Cannot use code host "${name}": environment variable "${variable}" is not set`,
    remedy: `set ${variable}, or remove the token`,
  });
}
