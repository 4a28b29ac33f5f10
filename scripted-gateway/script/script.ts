// The script after parsing: what the server answers from. Types only.

import type { GapText } from './gap-text.ts';
import type { Position } from './problem.ts';
import type { WorkingDirRule } from './working-dir.ts';

/** A whole script file, checked; everything it names exists. */
export interface GatewayScript {
  readonly path: string;
  readonly keys: readonly ScriptKey[];
  readonly models: ReadonlyMap<string, ModelPrice>;
  /** Delay before an answer whose turn sets none, in milliseconds. */
  readonly latencyMs: number;
  readonly workingDir: WorkingDirRule;
  readonly scripts: readonly TurnScript[];
}

/** A virtual key as written; `key` may still be `os.environ/VAR`. */
export interface ScriptKey {
  readonly key: string;
  readonly name: string;
  /** Models the key may use; null means all. */
  readonly models: readonly string[] | null;
  readonly tags: readonly string[];
  /** Sees the rows of every key in exports. */
  readonly admin: boolean;
  readonly at: Position;
}

/** Prices of one model. */
export interface ModelPrice {
  readonly inputNanoUsdPerMillion: bigint;
  readonly outputNanoUsdPerMillion: bigint;
}

/** Tokens of one call. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** The turns of one kind of conversation. */
export interface TurnScript {
  readonly name: string;
  /** Text that must be in the first user message; null: any. */
  readonly contains: string | null;
  /** Tool that the request must offer, which distinguishes agents with the same task; null: any. */
  readonly offers: string | null;
  readonly turns: readonly Turn[];
  /** What is answered when the turns have run out. */
  readonly finalTurn: AnswerTurn;
}

export type Turn = AnswerTurn | ErrorTurn;

/** A billed answer: text, tool calls or both. */
export interface AnswerTurn {
  readonly kind: 'answer';
  readonly say: GapText | null;
  readonly calls: readonly ScriptedCall[];
  /** Fixed token counts; null means an estimate from the bytes. */
  readonly usage: Usage | null;
  readonly latencyMs: number | null;
  /** Wait before each frame of a streamed answer; without it they come at once. */
  readonly pieceMs?: number;
}

/** One tool call; the arguments are the JSON text sent on the wire, once its gaps are filled. */
export interface ScriptedCall {
  readonly tool: string;
  readonly argumentsJson: GapText;
}

/** An error that is answered once per session, never billed, then skipped. */
export interface ErrorTurn {
  readonly kind: 'error';
  readonly status: number;
  readonly message: string;
  readonly retryAfterSeconds: number | null;
  readonly latencyMs: number | null;
}
