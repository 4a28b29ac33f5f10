/**
 * Which hosts a sandbox may reach, by name.
 * Owns the form of a rule and the match; a name is compared as it was asked for, before it is resolved.
 */

/** `example.org`, `*.example.org` (names below it, not itself), either with `:PORT`, and after `private ` or not. */
export interface HostRule {
  readonly name: string;
  readonly below: boolean;
  /** Null: the ports of the web. */
  readonly port: number | null;
  /** Present when the name may lead to an address of the deployment's own network. */
  readonly mayBePrivate?: true;
}

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

const WEB_PORTS = [80, 443];
const PORT_MAX = 65_535;
const LABEL = '[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?';
const RULE = new RegExp(`^(\\*\\.)?(${LABEL}(?:\\.${LABEL})*|\\[[0-9a-f:.]+\\])(?::(\\d{1,5}))?$`);

const PRIVATE_WORD = 'private ';

/** Null when it is no rule. */
export function parseHostRule(text: string): HostRule | null {
  const isPrivate = text.startsWith(PRIVATE_WORD);
  const match = RULE.exec(text.slice(isPrivate ? PRIVATE_WORD.length : 0).toLowerCase());
  const port = match?.at(-1) === undefined ? null : Number(match.at(-1));
  if (match === null || (port !== null && (port < 1 || port > PORT_MAX))) return null;
  const name = (match[2] ?? '').replace(/^\[|\]$/g, '');
  return { name, below: match[1] !== undefined, port, ...(isPrivate ? { mayBePrivate: true } : {}) };
}

export function allowsHost(rules: readonly HostRule[], { host, port }: HostAndPort): boolean {
  const asked = normalHost(host);
  return rules.some((rule) => {
    const isNamed = rule.below ? asked.endsWith(`.${rule.name}`) : asked === rule.name;
    return isNamed && (rule.port === null ? WEB_PORTS.includes(port) : rule.port === port);
  });
}

/** `HOST:PORT` of a CONNECT line; an address of IPv6 stands in brackets. Null when it is none. */
export function parseHostAndPort(text: string): HostAndPort | null {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^\s:/@[\]]+):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port < 1 || port > PORT_MAX) return null;
  return { host: normalHost(match[1] ?? ''), port };
}

/** One spelling: lower case, no brackets, no dot of the root at the end. */
function normalHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}
