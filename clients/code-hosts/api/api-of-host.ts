/**
 * Which interface a code host speaks, and where.
 * Owns what follows from its word and its clone URL; must not ask it.
 */
import type { CodeHostKind } from '../../../core/plan/plan-issue.ts';

export interface HostApi {
  readonly kind: CodeHostKind;
  /** Without a slash at its end. */
  readonly url: string;
}

/** As the configuration has it; what is absent follows from the rest. */
export interface GivenHostApi {
  readonly kind?: CodeHostKind;
  readonly url?: string;
}

const KINDS_BY_WORD: Readonly<Record<string, CodeHostKind>> = {
  github: 'github',
  gitlab: 'gitlab',
  gitea: 'gitea',
  forgejo: 'gitea',
  codeberg: 'gitea',
};
const KINDS_BY_NAME: Readonly<Record<string, CodeHostKind>> = {
  'github.com': 'github',
  'gitlab.com': 'gitlab',
  'codeberg.org': 'gitea',
  'gitea.com': 'gitea',
};

/** Null when it cannot be said. */
export function apiOfHost(word: string, cloneUrl: string, given: GivenHostApi = {}): HostApi | null {
  const isRemote = /^https?:\/\/[^/{]+\//.test(cloneUrl);
  const host = isRemote ? new URL(cloneUrl.slice(0, cloneUrl.indexOf('/', 'https://'.length + 1))) : null;
  const kind = given.kind ?? KINDS_BY_NAME[host?.hostname ?? ''] ?? KINDS_BY_WORD[word];
  if (kind === undefined) return null;
  if (given.url !== undefined) return { kind, url: given.url.replace(/\/+$/, '') };
  if (host === null) return null;
  return { kind, url: addressOf(kind, { host, below: pathBefore(cloneUrl) }) };
}

/** A host may serve its pages below a path, and its interface with them. */
function pathBefore(cloneUrl: string): string {
  const fixed = cloneUrl.slice(0, cloneUrl.indexOf('{'));
  return new URL(fixed).pathname.replace(/\/[^/]*$/, '');
}

function addressOf(
  kind: CodeHostKind,
  { host, below }: { readonly host: URL; readonly below: string },
): string {
  const base = `${host.origin}${below}`;
  switch (kind) {
    case 'github':
      return host.hostname === 'github.com' ? 'https://api.github.com' : `${base}/api/v3`;
    case 'gitlab':
      return `${base}/api/v4`;
    case 'gitea':
      return `${base}/api/v1`;
  }
}
