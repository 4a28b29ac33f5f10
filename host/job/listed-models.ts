/**
 * The models that `parley.yaml` lists: which there are, and which of them have a price.
 * Owns a glance at the file; must not load the proxy, because `validate` starts with this.
 */
import { listPriceOf } from '../../core/money/list-prices.ts';
import { textOf, itemsOf, treeAt, type Tree } from '../../dsl/read/tree.ts';
import { findDeploymentFile, readDeploymentFile } from '../config/deployment-file.ts';
import type { Shell } from '../shell.ts';

/** Which models the proxy of a deployment serves. */
export interface ListedModels {
  /** Null when it cannot be said: no file, no list, a reference, or the wildcard. */
  readonly models: readonly string[] | null;
  /** Null when it cannot be said: a model that is not listed, or a name that a variable gives and that is not set. */
  readonly hasPrice: (model: string) => boolean | null;
}

type Surroundings = Pick<Shell, 'cwd' | 'env'>;

const UNKNOWN: ListedModels = { models: null, hasPrice: () => null };
const WILDCARD = '*';
const VARIABLE = 'os.environ/';

/** Reads the file of the proxy, without opening the deployment. */
export function listedModels(shell: Surroundings, named: string | undefined): ListedModels {
  const found = findDeploymentFile(named ?? (shell.env['PARLEY_CONFIG'] || null), shell.cwd);
  if (found === null) return UNKNOWN;
  const { tree } = readDeploymentFile(found, shell.cwd);
  const entries = itemsOf(treeAt(tree ?? undefined, ['proxy_config', 'model_list']));
  const vendor = textOf(treeAt(tree ?? undefined, ['proxy', 'vendor'])) ?? 'proxyvendor';
  const names = entries.map((entry) => textOf(treeAt(entry, ['model_name'])));
  const isCertain = names.every((name) => name !== null && name !== WILDCARD && !name.startsWith(VARIABLE));
  const models = names.length > 0 && isCertain ? names.filter((name) => name !== null) : null;
  return { models, hasPrice: (model) => hasPrice(shell, { entries, vendor, model }) };
}

interface Asked {
  readonly entries: readonly Tree[];
  readonly vendor: string;
  readonly model: string;
}

/** Entries of one name share its calls, so each of them needs a price. */
function hasPrice(shell: Surroundings, { entries, vendor, model }: Asked): boolean | null {
  const nameOf = (entry: Tree): string | null => textOf(treeAt(entry, ['model_name']));
  const own = entries.filter((entry) => nameOf(entry) === model);
  const serving = own.length > 0 ? own : entries.filter((entry) => nameOf(entry) === WILDCARD);
  if (serving.length === 0) return null;
  const known = serving.map((entry) => isPriced(shell, { entry, vendor, model }));
  return known.includes(false) ? false : known.includes(null) ? null : true;
}

function isPriced(
  shell: Surroundings,
  { entry, vendor, model }: { readonly entry: Tree; readonly vendor: string; readonly model: string },
): boolean | null {
  const params = treeAt(entry, [`${vendor}_params`]);
  if (params === undefined) return null;
  if (treeAt(params, ['input_cost_per_token']) !== undefined) return true;
  const fromGateway = treeAt(params, ['cost_from_gateway']);
  if (fromGateway?.kind === 'scalar' && fromGateway.value === true) return true;
  const written = textOf(treeAt(params, ['model'])) ?? '';
  const upstream = written.startsWith(VARIABLE) ? shell.env[written.slice(VARIABLE.length)] : written;
  if (upstream === undefined || upstream === '') return null;
  return listPriceOf(upstream.replace(WILDCARD, () => model)) !== null;
}
