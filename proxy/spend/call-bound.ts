/**
 * The most that a call can cost at an entry, as far as it can be known before it is sent (D30).
 * Owns the bound on its tokens; must not know a budget.
 */
import { listPriceOf } from '../../core/money/list-prices.ts';
import { costAtMost, type TokenPrice } from '../../core/money/price.ts';
import type { BudgetAsk } from '../../core/money/reservation.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import type { Measured } from '../config/entry-states.ts';
import { OUTPUT_TOKENS_ASSUMED } from '../limits.ts';
import type { Target } from '../config/model-table.ts';
import type { RelayKind } from '../relay/relay-kind.ts';
import type { RelayRequest } from '../relay/relay-request.ts';

interface BoundedCall {
  readonly kind: RelayKind;
  readonly request: RelayRequest;
  readonly target: Target;
  /** Of the entry; null until a call has shown how it counts, so that its first call is alone. */
  readonly measured: Measured | null;
}

/** What is requested of a budget before the call is sent. */
export function askOf(call: BoundedCall): BudgetAsk {
  const { kind, request, target, measured } = call;
  const unbounded: BudgetAsk = { atMostNanoUsd: null, isOwnBound: false };
  const price = priceAt(target);
  if (price === null || measured === null || !measured.keepsLimits) return unbounded;
  const promptTokens = promptTokensAtMost(request, target, measured);
  const own = answersNothing(kind) ? 0 : request.outputTokensMax;
  const completionTokens = own ?? answerAtMost(target);
  if (promptTokens === null) return unbounded;
  const isOwnBound = own !== null;
  return { atMostNanoUsd: costAtMost(price, { promptTokens, completionTokens }), isOwnBound };
}

interface EndedCall extends BoundedCall {
  readonly replyBytes: number;
  /** It did not complete: the caller, the connection or the gateway gave it up. */
  readonly isBroken: boolean;
}

/**
 * The most that a call of unknown cost can have cost: for a stream by the bytes received, for a call that was given up
 * by its longest possible answer. Null where it cannot be known.
 */
export function endedAtMost(call: EndedCall): number | null {
  const { request, target, measured } = call;
  const price = priceAt(target);
  const completionTokens = request.streamed ? call.replyBytes : givenUpAtMost(call);
  if (price === null || completionTokens === null) return null;
  const beside = measured ?? { promptTokensBeside: 0, keepsLimits: true };
  const promptTokens = promptTokensAtMost(request, target, beside);
  // No token is shorter than a byte, and its frame has many more bytes.
  return promptTokens === null ? null : costAtMost(price, { promptTokens, completionTokens });
}

/** The call's own limit counts once the entry is known to keep limits. */
function givenUpAtMost({ kind, request, target, measured, isBroken }: EndedCall): number | null {
  if (!isBroken || measured?.keepsLimits === false) return null;
  const own = answersNothing(kind) ? 0 : request.outputTokensMax;
  if (own === null) return answerAtMost(target);
  return measured === null ? Math.max(own, answerAtMost(target)) : own;
}

/** What the row of a call shows about its entry; null when it shows nothing. */
export function measuredBy(
  call: Omit<BoundedCall, 'measured'>,
  row: SpendRow,
): { readonly promptTokensBeside: number; readonly keptLimits: boolean } | null {
  const { kind, request, target } = call;
  if (row.promptTokens === null) return null;
  const own = answersNothing(kind) ? null : request.outputTokensMax;
  const limit = own ?? answerAtMost(target);
  const price = priceAt(target);
  const completionTokens = row.completionTokens ?? 0;
  const costMax =
    price === null ? null : costAtMost(price, { promptTokens: row.promptTokens, completionTokens });
  const isDearer = costMax !== null && row.cost !== null && row.cost > costMax;
  return {
    promptTokensBeside: hasInputBeside(request) ? 0 : Math.max(0, row.promptTokens - request.body.length),
    keptLimits: !isDearer && completionTokens <= limit,
  };
}

function priceAt({ entry, upstreamModel }: Target): TokenPrice | null {
  return entry.price ?? listPriceOf(upstreamModel)?.price ?? null;
}

function answerAtMost({ entry }: Target): number {
  return entry.outputTokensMax ?? OUTPUT_TOKENS_ASSUMED;
}

function answersNothing(kind: RelayKind): boolean {
  return kind.route === '/v1/embeddings';
}

/** No token of a text is shorter than a byte; other input is bounded by the most input that the model takes. */
function promptTokensAtMost(request: RelayRequest, { entry }: Target, measured: Measured): number | null {
  if (hasInputBeside(request)) return entry.inputTokensMax;
  const byBytes = request.body.length + measured.promptTokensBeside;
  return Math.min(byBytes, entry.inputTokensMax ?? byBytes);
}

const BESIDE_PARTS = ['image_url', 'input_image', 'input_audio', 'input_file', 'file_id', 'video_url'].map(
  (key) => Buffer.from(`"${key}"`),
);
/** As the `type` of a part, or of a tool of the gateway's own whose findings it adds to the prompt. */
const BESIDE_TYPES =
  /"type"\s*:\s*"(?:file|image|document|video|web_search|web_fetch|file_search|code_interpreter|code_execution|mcp|computer)/;
const LOOKED_THROUGH = new WeakMap<RelayRequest, boolean>();

/**
 * Whether the model may be given more than the text of the body: pictures, files, the content of an earlier call.
 * A text that quotes such a word has a backslash before the quotes and is not taken for one.
 */
function hasInputBeside(request: RelayRequest): boolean {
  const known = LOOKED_THROUGH.get(request);
  if (known !== undefined) return known;
  const bytes = request.body.bytes();
  const found =
    request.namesInputBeside ||
    BESIDE_PARTS.some((key) => bytes.includes(key)) ||
    BESIDE_TYPES.test(bytes.toString('latin1'));
  LOOKED_THROUGH.set(request, found);
  return found;
}
