/**
 * A bill whose truth is known: calls of conversations, what a gateway billed for them, and what it billed for others.
 * Owns the chance of every kind of trouble, from a seed; must not join anything.
 */
import { conversationId, type ConversationId } from '../../core/ids.ts';
import { nanoUsd } from '../../core/money/money.ts';
import type { ReconcileConversation } from '../../core/reconcile/reconcile-result.ts';
import type { GatewayRow, SpendRow } from '../../core/money/spend.ts';
import { RandomStream } from '../../simulator/random.ts';

export interface BillShape {
  readonly seed: number;
  /** Rows for our calls, about as many as calls. */
  readonly calls: number;
  readonly conversations: number;
  /** Over how long the calls are spread. */
  readonly spanMs: number;
  /** How far the gateway's clocks are ahead; each row is of one of them. */
  readonly skewsMs: readonly number[];
  /** The export says tokens, and counts them as we do. */
  readonly hasTokens: boolean;
  /** Shares of calls, from 0 to 1. */
  readonly troubles: Troubles;
}

export interface Troubles {
  /** Billed again. */
  readonly repeats: number;
  /** Rows of others, beside ours; at least the first has its id, as most rows have. */
  readonly strangers: number;
  /** Rows without their id, ours and those of others. */
  readonly lostIds: number;
  /** Of our calls: never billed. */
  readonly lostRows: number;
  /** Taken back in part. */
  readonly credits: number;
  /** Calls whose end we did not see: neither their tokens nor, half of the time, their id. */
  readonly cut: number;
  /** Calls of ours and of others that are all alike, such as a check whether the model is there. */
  readonly alike: number;
}

export interface MadeBill {
  readonly conversations: readonly ReconcileConversation[];
  readonly calls: readonly SpendRow[];
  readonly rows: readonly GatewayRow[];
  /** Of each row; null for a row that is not ours. */
  readonly truth: readonly (ConversationId | null)[];
}

const START = Date.UTC(2026, 10, 21);
const MODELS = ['coder', 'writer'] as const;
const ALIKE = [11, 1] as const;
const LONGEST_MS = 20_000;
/** A row begins a little after its call: what lies between is the way to the gateway. */
const WAY_MS = 400;

export function makeBill(shape: BillShape): MadeBill {
  const maker = new BillMaker(shape);
  for (let index = 0; index < shape.calls; index += 1) maker.addCall(index);
  const strangers = Math.round(shape.calls * shape.troubles.strangers);
  for (let index = 0; index < strangers; index += 1) maker.addStranger(index);
  return maker.bill();
}

interface Made {
  readonly row: GatewayRow;
  readonly owner: ConversationId | null;
}

class BillMaker {
  private readonly shape: BillShape;
  private readonly random: RandomStream;
  private readonly calls: SpendRow[] = [];
  private readonly made: Made[] = [];

  constructor(shape: BillShape) {
    this.shape = shape;
    this.random = new RandomStream(shape.seed);
  }

  addCall(index: number): void {
    const { troubles, conversations } = this.shape;
    const owner = conversationAt(this.below(conversations));
    const begun = this.begun();
    const isCut = this.random.happens(troubles.cut);
    const responseId = `chatcmpl-${index.toString(16).padStart(12, '0')}`;
    const isLearnt = !isCut || this.random.happens(0.5);
    this.calls.push({
      ...begun,
      callId: `call-${index}`,
      state: isCut ? 'aborted' : 'succeeded',
      route: '/v1/chat/completions',
      upstreamModel: `acme/${begun.modelName}-1`,
      streamed: true,
      httpStatus: isCut ? null : 200,
      responseId: isLearnt ? responseId : null,
      sessionId: owner,
      user: null,
      keyName: 'agent',
      promptTokens: isCut ? null : begun.promptTokens,
      completionTokens: isCut ? null : begun.completionTokens,
      cachedTokens: null,
      cost: null,
      costSource: 'unpriced',
      metadata: null,
    });
    if (this.random.happens(troubles.lostRows)) return;
    const row = this.rowOf(begun, responseId);
    this.made.push({ row, owner });
    // What repeats and takes back may have lost its id, too, or may have it although the first has not.
    if (this.random.happens(troubles.repeats)) {
      this.made.push({ owner, row: { ...row, responseId: this.maybeLost(responseId) } });
    }
    if (this.random.happens(troubles.credits)) {
      const cost = nanoUsd(-1 - this.below(row.cost));
      this.made.push({ owner, row: { ...row, cost, responseId: this.maybeLost(responseId) } });
    }
  }

  addStranger(index: number): void {
    const row = this.rowOf(this.begun(), `chatcmpl-other-${index}`);
    this.made.push({ owner: null, row: index === 0 ? { ...row, responseId: 'chatcmpl-other-0' } : row });
  }

  private begun() {
    const isAlike = this.random.happens(this.shape.troubles.alike);
    const startedAt = START + this.below(this.shape.spanMs);
    return {
      startedAt,
      endedAt: startedAt + this.below(LONGEST_MS),
      modelName: MODELS[this.below(MODELS.length)] ?? 'coder',
      promptTokens: isAlike ? ALIKE[0] : 1 + this.below(60_000),
      completionTokens: isAlike ? ALIKE[1] : 1 + this.below(4_000),
    };
  }

  private rowOf(begun: ReturnType<BillMaker['begun']>, responseId: string): GatewayRow {
    const { skewsMs, hasTokens } = this.shape;
    const skewMs = skewsMs[this.below(skewsMs.length)] ?? 0;
    const startedAt = begun.startedAt + skewMs + this.below(WAY_MS);
    return {
      responseId: this.maybeLost(responseId),
      startedAt,
      endedAt: begun.endedAt + skewMs + WAY_MS,
      model: `acme/${begun.modelName}-1`,
      sessionId: null,
      tags: [],
      keyName: null,
      promptTokens: hasTokens ? begun.promptTokens : 0,
      completionTokens: hasTokens ? begun.completionTokens : 0,
      cost: nanoUsd(1 + this.below(2_000_000_000)),
      metadataSessionId: null,
      position: 0,
    };
  }

  private maybeLost(responseId: string): string | null {
    return this.random.happens(this.shape.troubles.lostIds) ? null : responseId;
  }

  private below(count: number): number {
    return Math.floor(this.random.next() * count);
  }

  /** In the order of time, as exports are. */
  bill(): MadeBill {
    const made = [...this.made].sort((a, b) => a.row.startedAt - b.row.startedAt);
    return {
      conversations: Array.from({ length: this.shape.conversations }, (_, number) => ({
        conversationId: conversationAt(number),
        key: `item-${number}`,
        tags: { team: `team-${number % 7}` },
        endedAt: null,
        attemptIds: [],
      })),
      calls: this.calls,
      rows: made.map(({ row }, index) => ({ ...row, position: index + 1 })),
      truth: made.map(({ owner }) => owner),
    };
  }
}

function conversationAt(number: number): ConversationId {
  return conversationId((number + 1).toString(16).padStart(32, '0'));
}
