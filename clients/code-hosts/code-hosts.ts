/**
 * Which provider leads where.
 * Owns the templates (D19) and turning a repository's name into a place; must not open a connection or a file.
 */
import { isAbsolute, resolve } from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { parseRepositoryName } from './repository-name.ts';

/** One provider as the deployment names it. */
export interface CodeHostTemplate {
  /**
   * `https:` or `http:` for a host, `file:` for repositories of this machine. `{owner}` and `{repo}` stand for the
   * two parts of a name, `{name}` for both with the slash between.
   */
  readonly url: string;
  /** The one that is meant when no provider is named. */
  readonly default?: boolean;
}

/** Used where the configuration names none (D19). */
export const PUBLIC_CODE_HOSTS: Readonly<Record<string, CodeHostTemplate>> = {
  github: { url: 'https://github.com/{name}.git', default: true },
  gitlab: { url: 'https://gitlab.com/{name}.git' },
  bitbucket: { url: 'https://bitbucket.org/{name}.git' },
  azure_devops: { url: 'https://dev.azure.com/{owner}/_git/{repo}' },
};

export type RepositoryPlace =
  | { readonly kind: 'remote'; readonly url: string }
  /** `root` is the part of the template before its first placeholder: the repository must lie below it. */
  | { readonly kind: 'directory'; readonly path: string; readonly root: string };

/** A repository by provider and name, and where it lies. */
export interface RepositoryLocation {
  readonly provider: string;
  /** `owner/repo`. */
  readonly name: string;
  readonly place: RepositoryPlace;
}

/** The providers of a deployment, and the way from a name to a place. */
export interface CodeHosts {
  readonly providers: readonly string[];
  /**
   * `provider` null means the default one.
   * @throws ParleyError invalid_request: the provider is not configured, or the name is no possible name
   */
  locate(repository: { readonly provider: string | null; readonly name: string }): RepositoryLocation;
  /**
   * The URL a sandbox clones from; `gitUrl` comes from the sandbox's address. It holds no credential.
   * @throws ParleyError as `locate`
   */
  cloneUrl(repository: { readonly provider: string | null; readonly name: string }, gitUrl: string): string;
  /** What a submodule's address begins with where it is named in full. @throws ParleyError as `locate` */
  addressOfHost(
    repository: { readonly provider: string | null; readonly name: string },
    gitUrl: string,
  ): { readonly outside: string | null; readonly inside: string };
}

const PROVIDER_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * `baseDir` is what relative `file:` templates are relative to.
 * @throws ParleyError config_invalid: a provider's word or template is malformed, or two are the default
 */
export function createCodeHosts(options: {
  readonly hosts: Readonly<Record<string, CodeHostTemplate>>;
  readonly baseDir?: string;
}): CodeHosts {
  const hosts = new Map(Object.entries(options.hosts));
  for (const [provider, template] of hosts) checkTemplate(provider, template);
  const byDefault = [...hosts]
    .filter(([, template]) => template.default === true)
    .map(([provider]) => provider);
  if (byDefault.length > 1) {
    throw new ParleyError(
      'config_invalid',
      `Cannot use code hosts: "${byDefault.join('", "')}" are all the default`,
    );
  }
  const fallback = byDefault[0] ?? (hosts.size === 1 ? [...hosts.keys()][0] : undefined);
  const locate: CodeHosts['locate'] = ({ provider, name }) => {
    const word = provider ?? fallback;
    const template = word === undefined ? undefined : hosts.get(word);
    if (word === undefined || template === undefined) throw unknownProvider(provider, [...hosts.keys()]);
    return { provider: word, name, place: fillTemplate(template.url, name, options.baseDir ?? '/') };
  };
  return {
    providers: [...hosts.keys()],
    locate,
    cloneUrl(repository, gitUrl) {
      const { provider, name } = locate(repository);
      return `${gitUrl}/${provider}/${name}.git`;
    },
    addressOfHost(repository, gitUrl) {
      const { provider, name, place } = locate(repository);
      const at = place.kind === 'remote' ? place.url.indexOf(`/${name}`) : -1;
      const outside = place.kind === 'remote' && at !== -1 ? place.url.slice(0, at + 1) : null;
      return { outside, inside: `${gitUrl}/${provider}/` };
    },
  };
}

function checkTemplate(provider: string, { url }: CodeHostTemplate): void {
  const problem = templateProblem(provider, url);
  if (problem !== null) {
    throw new ParleyError('config_invalid', `Cannot use code host "${provider}": ${problem}`);
  }
}

function templateProblem(provider: string, url: string): string | null {
  if (!PROVIDER_PATTERN.test(provider)) return 'its word is not [a-z][a-z0-9_]*';
  if (!/^(https?:\/\/|file:)/.test(url)) return 'its url is neither https:, http: nor file:';
  if (!/\{(repo|name)\}/.test(url)) return 'its url holds neither {repo} nor {name}';
  const unknown = /\{(?!(owner|repo|name)\})[^}]*\}?/.exec(url)?.[0];
  if (unknown !== undefined) return `its url holds the unknown placeholder "${unknown}"`;
  if (/^https?:\/\/[^/]*[@{]/.test(url)) return 'its url holds a credential or a placeholder before the path';
  return null;
}

function fillTemplate(template: string, name: string, baseDir: string): RepositoryPlace {
  const parsed = parseRepositoryName(name);
  if (parsed === null) {
    throw new ParleyError(
      'invalid_request',
      `Cannot locate repository "${name}": not a name of the form "owner/repo"`,
    );
  }
  const filled = template
    .replaceAll('{name}', name)
    .replaceAll('{owner}', parsed.owner)
    .replaceAll('{repo}', parsed.repo);
  if (!template.startsWith('file:')) return { kind: 'remote', url: filled };
  const fixed = template.slice(0, template.indexOf('{'));
  return {
    kind: 'directory',
    path: localPath(filled, baseDir),
    root: localPath(fixed.slice(0, fixed.lastIndexOf('/') + 1), baseDir),
  };
}

function localPath(url: string, baseDir: string): string {
  const path = url.slice('file:'.length).replace(/^\/\/(?=\/)/, '');
  return isAbsolute(path) ? resolve(path) : resolve(baseDir, path);
}

function unknownProvider(provider: string | null, known: readonly string[]): ParleyError {
  const expected = known.map((word) => `"${word}"`).join(', ');
  const message =
    provider === null
      ? `Cannot locate repository: no provider is named and none is the default; expected one of ${expected}`
      : `Cannot locate repository: unknown provider "${provider}", expected one of ${expected}`;
  return new ParleyError('invalid_request', message);
}
