/**
 * The relayed calls: chat completions, responses, messages, embeddings. The hot path.
 * Owns the order of the checks before anything is sent; must not touch a reply's bytes.
 */
import { normalUuid } from '../../core/ids.ts';
import type { ProxyKeyRecord } from '../../ports/proxy-keys.ts';
import { CallMoney, type Budget } from '../spend/call-money.ts';
import { mayUse, type Caller } from '../keys/caller.ts';
import { mayStay, ownerOf } from '../spend/caller-share.ts';
import { failure, type Failure } from '../failure.ts';
import { crowded, NO_ROOM, readBody, sendFailure, type Exchange } from './http-exchange.ts';
import { REQUEST_BYTES_MAX } from '../limits.ts';
import type { Resolved, Target } from '../config/model-table.ts';
import type { LiveConfig, ProxyParts } from '../proxy-parts.ts';
import { RelayCall } from './relay-call.ts';
import type { RelayKind } from './relay-kind.ts';
import type { HeaderRule } from './request-headers.ts';
import { readRelayRequest, type RelayRequest } from './relay-request.ts';
import { readMetadata, readTags, type CallerFacts } from '../spend/spend-row.ts';
import type { VirtualKeys } from '../keys/virtual-keys.ts';

/** `pathModel` is from the path, where it wins over the body; "" when the path names none. */
export async function serveRelay(
  parts: ProxyParts,
  exchange: Exchange,
  call: { readonly kind: RelayKind; readonly pathModel: string },
): Promise<void> {
  const failed = await startCall(parts, exchange, { kind: call.kind, pathModel: call.pathModel || null });
  if (failed !== null) sendFailure(exchange.res, failed, call);
}

async function startCall(
  parts: ProxyParts,
  exchange: Exchange,
  form: { readonly kind: RelayKind; readonly pathModel: string | null },
): Promise<Failure | null> {
  // What is in memory is there at once: each wait would cost a call more than the look-up.
  const found = parts.findCaller(exchange.req);
  const caller = found instanceof Promise ? await found : found;
  if ('code' in caller) return caller;
  const crowd = mayStay(parts.sandboxes, exchange, caller);
  if (crowd !== null) return crowd;
  // Held as long as the body is: until the call is answered, or its caller has gone.
  const hold = parts.bodies.hold(ownerOf(caller));
  const announced = parts.announced.hold(ownerOf(caller));
  exchange.res.once('close', () => {
    hold.release();
    announced.release();
  });
  const length = Number(exchange.req.headers['content-length'] ?? 0);
  if (length <= REQUEST_BYTES_MAX && !announced.take(length)) return crowded(NO_ROOM);
  const body = await readBody(exchange.req, REQUEST_BYTES_MAX, hold);
  if ('code' in body) return body;
  const reading = readRelayRequest(body, form);
  if (!reading.ok)
    return failure('invalid_request', `Cannot read the request: ${reading.reason}`, reading.param);
  const { live } = parts;
  const targets = findTargets(live, caller, reading.request.model);
  if ('code' in targets) return targets;
  const { kind } = form;
  const { request } = reading;
  const facts = callerFacts(live.headerRule, exchange, { caller, request });
  const admission = admit(parts, caller, facts.sessionId);
  const budgets = admission instanceof Promise ? await admission.catch(refuseUnread) : admission;
  if ('code' in budgets) return budgets;
  const money = new CallMoney(budgets);
  const call = new RelayCall({ parts, live, exchange, caller, kind, request, targets, facts, money });
  parts.openCalls.add(call);
  return call.send();
}

function findTargets(live: LiveConfig, caller: Caller, model: string): readonly Target[] | Failure {
  const resolved = live.models.resolve(model);
  switch (resolved.kind) {
    case 'unknown':
      return failure(
        'model_not_found',
        `Cannot call model "${shown(model)}": it is not listed; GET /v1/models lists all`,
        'model',
      );
    case 'bare':
      return failure(
        'invalid_request',
        `Cannot call model "${shown(model)}": write it as "provider/model"`,
        'model',
      );
    case 'found':
      if (mayUse(caller, model) || mayUse(caller, resolved.listedName))
        return triesOf(live, caller, { model, resolved });
      return failure(
        'forbidden',
        `Cannot call model "${shown(model)}": the API key does not allow it`,
        'model',
      );
    default:
      return resolved satisfies never;
  }
}

/** A name is repeated so that its typing error is seen; what is longer is no name. */
const SHOWN_LENGTH_MAX = 200;

function shown(model: string): string {
  return model.length <= SHOWN_LENGTH_MAX ? model : `${model.slice(0, SHOWN_LENGTH_MAX)}…`;
}

/** One target a try: the entries of the name in turn, then those of each fallback that the key may use. */
function triesOf(
  live: LiveConfig,
  caller: Caller,
  call: { readonly model: string; readonly resolved: Extract<Resolved, { kind: 'found' }> },
): readonly Target[] {
  const { retriesMax, fallbacks } = live.config.retry;
  const tries = repeated(call.resolved.targets, retriesMax + 1);
  const others = fallbacks.get(call.model) ?? [];
  if (others.length === 0) return tries;
  const further = others.flatMap((name) => {
    const resolved = mayUse(caller, name) ? live.models.resolve(name) : null;
    return resolved?.kind === 'found' ? repeated(resolved.targets, retriesMax + 1) : [];
  });
  return [...tries, ...further];
}

function repeated(targets: readonly Target[], count: number): readonly Target[] {
  if (count === 1) return targets.slice(0, 1);
  return Array.from({ length: count }, (_, i) => targets[i % targets.length]).filter(
    (one) => one !== undefined,
  );
}

const NO_BUDGETS: readonly Budget[] = [];

/** The budgets that the call is held to, that of the run first; what the key admits is counted at once. */
function admit(
  { runBudgets, virtualKeys }: ProxyParts,
  { limits }: Caller,
  sessionId: string | null,
): readonly Budget[] | Failure | Promise<readonly Budget[] | Failure> {
  const byKey = (run: readonly Budget[]): ReturnType<typeof admit> => {
    if (limits === undefined || virtualKeys === null) return run;
    const admitted = virtualKeys.admit(limits);
    const budgets = (refused: Failure | null): readonly Budget[] | Failure =>
      refused ?? [...run, ...budgetOf(virtualKeys, limits)];
    return admitted instanceof Promise ? admitted.then(budgets) : budgets(admitted);
  };
  if (runBudgets === null || sessionId === null) return byKey(NO_BUDGETS);
  return runBudgets
    .accountOf(sessionId)
    .then((account) =>
      byKey(
        account === null ? NO_BUDGETS : [{ reservations: account.account, owner: { run: account.runId } }],
      ),
    );
}

function budgetOf(keys: VirtualKeys, key: ProxyKeyRecord): readonly Budget[] {
  const account = keys.accountOf(key);
  if (account === null) return NO_BUDGETS;
  return [{ reservations: account, owner: { key, nextWindowS: keys.nextWindowS(key) } }];
}

function refuseUnread(): Failure {
  const message = 'Cannot call the model: what the key or its run has spent cannot be read';
  return failure('store_unavailable', message);
}

function callerFacts(
  rule: HeaderRule,
  exchange: Exchange,
  { caller, request }: { readonly caller: Caller; readonly request: RelayRequest },
): CallerFacts {
  const { headers } = exchange.req;
  return {
    modelName: request.model,
    sessionId: sessionOf(caller, headers[rule.sessionHeader]),
    user: request.user ?? caller.userId,
    keyName: caller.name,
    metadata: readMetadata(headers[rule.metadataHeader], caller.metadata),
    team: caller.team,
    tags: readTags(headers[rule.tagsHeader], caller.tags),
  };
}

const UUID_HEX = /^[0-9a-f]{32}$/;

/** The conversation the key is bound to; only a key bound to none may name one itself (D19, D23). */
function sessionOf(caller: Caller, header: string | string[] | undefined): string | null {
  if (caller.sessionId !== null) return normalUuid(caller.sessionId);
  const named = typeof header === 'string' ? normalUuid(header) : '';
  return UUID_HEX.test(named) ? named : null;
}
