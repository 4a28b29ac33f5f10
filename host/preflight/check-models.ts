/**
 * Whether the gateways behind a job answer, take the key and have its models.
 * Owns which gateway is asked for what and the wording; the answers are read in gateway-answer.ts.
 */
import { knownItems } from '../../core/plan/known-items.ts';
import { listPriceOf } from '../../core/money/list-prices.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { nearestName } from '../../dsl/check/nearest-name.ts';
import { quote } from '../../dsl/read/quote.ts';
import type { ModelEntry, ProxyConfig } from '../../proxy/config/config.ts';
import { OUTPUT_TOKENS_ASSUMED } from '../../proxy/limits.ts';
import { ModelTable } from '../../proxy/config/model-table.ts';
import { failed, passed, warned, type Finding } from '../finding.ts';
import type { GatewayDesk } from './ask-gateway.ts';
import { isListed, type GatewayAnswer, type ModelAnswer, type Refusal } from './gateway-answer.ts';
import type { Probes } from './probe-all.ts';

/** A way that calls of a model can take. */
interface Route {
  readonly model: string;
  readonly entry: ModelEntry;
  readonly upstreamModel: string;
}

export interface ModelCheck {
  readonly plan: Plan;
  readonly config: ProxyConfig;
  readonly desk: GatewayDesk;
  readonly probes: Probes;
}

export async function checkModels({ plan, config, desk, probes }: ModelCheck): Promise<readonly Finding[]> {
  const table = new ModelTable(config.models);
  const models = [...new Set(knownItems(plan).map(({ model }) => model))];
  const resolved = models.map((model) => resolve(table, model));
  const routes = resolved.flatMap((one) => ('routes' in one ? one.routes : []));
  const gateways = byGateway(routes);
  const asked = await probes.all(gateways, async (group, signal) => {
    const [first] = group;
    const answer: GatewayAnswer =
      first === undefined ? { kind: 'no_list' } : await desk.models(first.entry, signal);
    return { group, answer };
  });
  const found = await Promise.all(
    asked.map(async ({ group, answer }) => await gatewayFindings({ group, answer, desk, probes })),
  );
  return [
    ...resolved.flatMap((one) => ('finding' in one ? [one.finding] : [])),
    ...softened(found.flat()),
    ...checkPrices(plan, routes),
    ...checkBounds(plan, routes),
  ];
}

/** Entries of one address with one key are asked once. */
function byGateway(routes: readonly Route[]): readonly (readonly Route[])[] {
  const groups = new Map<string, Route[]>();
  for (const route of routes) {
    const { origin, basePath, apiKey, extraHeaders } = route.entry;
    const key = JSON.stringify([origin, basePath, apiKey, [...extraHeaders]]);
    groups.set(key, [...(groups.get(key) ?? []), route]);
  }
  return [...groups.values()];
}

function resolve(
  table: ModelTable,
  model: string,
): { readonly finding: Finding } | { readonly routes: readonly Route[] } {
  const way = table.resolve(model);
  switch (way.kind) {
    case 'found':
      return { routes: way.targets.map((target) => ({ model, ...target })) };
    case 'bare': {
      const detail = `${quote(model)} would go through the entry "*", which takes names with a provider only`;
      return { finding: failed('models', detail, `write it as "openai/${model}", or list it by its name`) };
    }
    case 'unknown': {
      const names = table.names();
      const near = nearestName(model, names);
      const listed =
        names.length === 0 ? 'list it under proxy_config.model_list' : `listed: ${names.join(', ')}`;
      const remedy = near === null ? listed : `did you mean ${quote(near)}?`;
      return { finding: failed('models', `proxy_config lists no model ${quote(model)}`, remedy) };
    }
    default:
      return way satisfies never;
  }
}

/** What one gateway comes to; `models` are those that it serves. */
interface GatewayFindings {
  readonly findings: readonly Finding[];
  readonly serves: readonly string[];
  readonly lacks: readonly { readonly model: string; readonly finding: Finding }[];
}

async function gatewayFindings(asked: {
  readonly group: readonly Route[];
  readonly answer: GatewayAnswer;
  readonly desk: GatewayDesk;
  readonly probes: Probes;
}): Promise<GatewayFindings> {
  const { group, answer } = asked;
  const where = group[0]?.entry.origin ?? '';
  switch (answer.kind) {
    case 'listed': {
      const lacks = group
        .filter(({ upstreamModel }) => !isListed(answer.ids, upstreamModel))
        .map((route) => ({ model: route.model, finding: unlisted(route, answer.ids) }));
      const serves = group.filter((route) => isListed(answer.ids, route.upstreamModel));
      const detail = `${where} answers; models: ${serves.map(({ model }) => model).join(', ') || 'none of the job'}`;
      return { findings: [passed('gateway', detail)], serves: serves.map(({ model }) => model), lacks };
    }
    case 'no_list':
      return await calledFindings(asked, where);
    default:
      return { findings: [refused(answer, group)], serves: [], lacks: [] };
  }
}

function unlisted({ model, upstreamModel, entry }: Route, ids: readonly string[]): Finding {
  const near = nearestName(upstreamModel, ids);
  const asWritten =
    upstreamModel === model ? quote(model) : `${quote(upstreamModel)}, which ${quote(model)} leads to`;
  const detail = `${entry.origin} does not list ${asWritten}`;
  const hint =
    near === null ? 'correct the entry in proxy_config.model_list' : `did you mean ${quote(near)}?`;
  return failed('models', detail, `${hint} (--no-preflight runs a model that a gateway serves unlisted)`);
}

/** Nothing is listed, so each model is asked itself; that it was is said, because it costs a token. */
async function calledFindings(
  { group, desk, probes }: Parameters<typeof gatewayFindings>[0],
  where: string,
): Promise<GatewayFindings> {
  const answers = await probes.all(group, async (route, signal) => ({
    route,
    answer: await desk.call(route.entry, route.upstreamModel, signal),
  }));
  const names = group.map(({ model }) => model).join(', ');
  const detail = `${where} lists no models, so each was asked for one token, which costs: ${names}`;
  const serves = answers.filter(({ answer }) => answer.kind === 'served').map(({ route }) => route.model);
  const lacks = answers.flatMap(({ route, answer }) => {
    if (answer.kind === 'served') return [];
    return [{ model: route.model, finding: uncalled(route, answer) }];
  });
  const said = warned('gateway', detail, '--no-preflight asks for nothing');
  return { findings: [said], serves, lacks };
}

function uncalled(route: Route, answer: Exclude<ModelAnswer, { readonly kind: 'served' }>): Finding {
  if (answer.kind !== 'unknown_model') return refused(answer, [route]);
  const detail = `${route.entry.origin} does not serve ${quote(route.upstreamModel)} (${answer.said})`;
  return failed('models', detail, 'correct the entry in proxy_config.model_list');
}

function refused(answer: Refusal, group: readonly Route[]): Finding {
  const { origin = '', modelName = '' } = group[0]?.entry ?? {};
  switch (answer.kind) {
    case 'unreachable':
      return failed('gateway', `${origin} cannot be asked: ${answer.reason}`, answer.remedy);
    case 'key_refused':
      return failed(
        'gateway',
        `${origin} refuses the key of model entry ${quote(modelName)} (${answer.said})`,
        'set the variable that its api_key names to a key that is valid there',
      );
    case 'quota_used_up':
      return failed(
        'gateway',
        `${origin} has no quota left for the key of model entry ${quote(modelName)} (${answer.said})`,
        'raise it there, or use another key',
      );
    case 'in_trouble':
      return warned('gateway', `${origin} is in trouble (${answer.said})`, 'the run begins, and tries again');
    default:
      return answer satisfies never;
  }
}

/** One entry of several under a name may lack the model: calls find the others. */
function softened(found: readonly GatewayFindings[]): readonly Finding[] {
  const served = new Set(found.flatMap(({ serves }) => serves));
  const lacking = found.flatMap(({ lacks }) =>
    lacks.map(({ model, finding }) =>
      served.has(model) ? { ...finding, status: 'warning' as const } : finding,
    ),
  );
  return [...found.flatMap(({ findings }) => findings), ...lacking];
}

/** What the gateway itself says of costs counts where there is no price; one of another product says nothing. */
function checkPrices(plan: Plan, routes: readonly Route[]): readonly Finding[] {
  const counting = new Set(
    knownItems(plan)
      .filter(({ limits }) => plan.budget !== null || limits.nanoUsd !== null)
      .map(({ model }) => model),
  );
  const bare = routes.filter(
    ({ model, entry, upstreamModel }) =>
      counting.has(model) &&
      entry.price === null &&
      entry.kind === 'openai' &&
      listPriceOf(upstreamModel) === null,
  );
  const names = [...new Set(bare.map(({ model }) => quote(model)))];
  if (names.length === 0) return [];
  const detail = `a budget or limits.usd counts on ${names.join(', ')}, which has no price in proxy_config`;
  const remedy =
    'write input_cost_per_token and output_cost_per_token, or cost_from_gateway where it says what a call costs';
  return [warned('prices', detail, remedy)];
}

/** What is assumed holds much, and counts when the caller gives up before it is answered (D30). */
function checkBounds({ budget }: Plan, routes: readonly Route[]): readonly Finding[] {
  if (budget?.mode !== 'enforce') return [];
  const unbounded = routes.filter(({ entry }) => entry.kind === 'openai' && entry.outputTokensMax === null);
  const names = [...new Set(unbounded.map(({ model }) => quote(model)))];
  if (names.length === 0) return [];
  const detail = `under the budget, calls of ${names.join(', ')} without max_tokens hold ${OUTPUT_TOKENS_ASSUMED} tokens of output each, and one that is given up counts as many`;
  return [
    warned('prices', detail, 'write max_output_tokens, the most that one call is answered with, for it'),
  ];
}
