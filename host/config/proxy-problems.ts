/**
 * The block `proxy_config`, checked by the proxy's own parser, its findings put at their place in the file.
 * Owns the translation; the rules are the proxy's (D25).
 */
import { nearestName } from '../../dsl/check/nearest-name.ts';
import { treeAt, type TreePath } from '../../dsl/read/tree.ts';
import { pathSteps, placeOf } from './config-place.ts';
import type { DeploymentFile } from './deployment-file.ts';
import type { Environment } from './effective-values.ts';
import type { Problem } from './problem.ts';
import { proxyKeysBeside } from './blocks/proxy-keys.ts';

export interface ProxyBlock {
  readonly raw: unknown;
  readonly vendor: string;
  readonly port: number;
  readonly env: Environment;
  readonly file: DeploymentFile | null;
}

/** The master key is not needed while the proxy listens for sandboxes alone. */
const MASTER_KEY_PATH = 'proxy_config.master_key';

/** What the proxy says of a key that it does not use. */
const UNKNOWN_KEY = /does not know this key|does not use this parameter/;

export async function checkProxy(
  block: ProxyBlock,
): Promise<{ readonly forwardsHeaders: boolean; readonly problems: readonly Problem[] }> {
  const { parseProxyConfig } = await import('../../proxy/config/config-reading.ts');
  const { config, problems } = parseProxyConfig(block.raw, block.env, { vendor: block.vendor });
  const foreign = foreignWords(block);
  const isSaid = new Set(foreign.map(({ at }) => `${pathText(at.slice(0, -1))}.${block.vendor}_params`));
  const left = problems.filter(
    ({ path }) => !isSaid.has(path) && (path !== MASTER_KEY_PATH || block.port !== 0),
  );
  return {
    forwardsHeaders: config.forwardClientHeaders,
    problems: [
      ...foreign.map(({ at, wording }): Problem => {
        const place = placeAt(at, block.file);
        return { severity: 'error', area: 'proxy', ...place, ...wording };
      }),
      ...left.map(({ severity, path, message }): Problem => {
        const at = writtenPath(pathSteps(path), block);
        return {
          severity,
          area: 'proxy',
          ...placeAt(at, block.file, UNKNOWN_KEY.test(message)),
          message,
          remedy: remedyOf(message, at, block),
        };
      }),
    ],
  };
}

interface Foreign {
  /** Of the key that is another product's. */
  readonly at: TreePath;
  readonly wording: Pick<Problem, 'message' | 'remedy'>;
}

/** Entries whose parameters stand under the word of another product than this proxy's (D1). */
function foreignWords({ raw, vendor }: ProxyBlock): readonly Foreign[] {
  const list = (raw as { readonly model_list?: unknown } | null | undefined)?.model_list;
  if (!Array.isArray(list)) return [];
  const wanted = `${vendor}_params`;
  return list.flatMap((entry: unknown, index): Foreign[] => {
    const keys = typeof entry === 'object' && entry !== null ? Object.keys(entry) : [];
    const word = keys.includes(wanted) ? undefined : keys.find((key) => /^[a-z][a-z0-9]*_params$/.test(key));
    if (word === undefined) return [];
    const other = word.slice(0, -'_params'.length);
    const message = `unknown key "${word}" in a model entry: the word of this proxy is "${vendor}"`;
    const remedy = `write "${wanted}", or set proxy.vendor to "${other}"`;
    return [{ at: ['proxy_config', 'model_list', index, word], wording: { message, remedy } }];
  });
}

/** The proxy names a parameter of an entry without the block it stands in. */
function writtenPath(at: TreePath, { file, vendor }: ProxyBlock): TreePath {
  const tree = file?.tree ?? undefined;
  const inParams = [...at.slice(0, -1), `${vendor}_params`, ...at.slice(-1)];
  return treeAt(tree, at) === undefined && treeAt(tree, inParams) !== undefined ? inParams : at;
}

function pathText(at: TreePath): string {
  return at
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
}

/** At the key where it is what is wrong, or begins a block that is; else at its value. */
function placeAt(at: TreePath, file: DeploymentFile | null, isAboutKey = false) {
  if (file === null) return { file: pathText(at), line: null, column: null };
  const last = at.at(-1);
  const value = treeAt(file.tree ?? undefined, at);
  const isKey = typeof last === 'string' && value !== undefined && (isAboutKey || value.kind !== 'scalar');
  return isKey ? placeOf(file, at.slice(0, -1), last) : placeOf(file, at);
}

function remedyOf(message: string, at: TreePath, { vendor }: ProxyBlock): string | null {
  const variable = /environment variable "([^"]+)" is not set/.exec(message)?.[1];
  if (variable !== undefined) return `set ${variable}`;
  const prefixed = /"([a-z0-9]+)_proxy\/([^"]+)" must start with/.exec(message);
  if (prefixed !== null)
    return `write "${vendor}_proxy/${prefixed[2]}", or set proxy.vendor to "${prefixed[1]}"`;
  if (!UNKNOWN_KEY.test(message)) return null;
  const near = nearestName(String(at.at(-1)), proxyKeysBeside(at.slice(1), vendor));
  return near === null ? null : `did you mean "${near}"?`;
}
