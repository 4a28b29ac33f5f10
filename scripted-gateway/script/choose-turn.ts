// Which turn answers a request, from the request alone: the server keeps no conversation, so it may die at any time.
// It must not know which errors were answered already; it hands out the errors that stand before the answer.

import { parseCallId } from '../call-id.ts';
import { offeredTools, textOf, type ChatMessage, type Offered } from '../chat-request.ts';
import type { AnswerTurn, ErrorTurn, GatewayScript, Turn, TurnScript } from './script.ts';

/** The part of a request that the choice rests on. */
interface TurnRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: Offered;
}

/** An error turn and its place in the script. */
interface PlacedError {
  readonly turnIndex: number;
  readonly turn: ErrorTurn;
}

/** What to answer: each of `errors` once, in order, then `answer`. */
export type TurnChoice =
  | { readonly kind: 'noScript' }
  | {
      readonly kind: 'turn';
      readonly scriptName: string;
      readonly errors: readonly PlacedError[];
      readonly turnIndex: number;
      readonly answer: AnswerTurn;
    };

/** How far a history shows a conversation to be. */
interface Progress {
  /** The highest turn whose tool calls are in the history; -1 when there are none. */
  readonly lastTurnIndex: number;
  /** Assistant messages after it: turns that only said something and left no id. */
  readonly saidSince: number;
}

/**
 * Chooses the turn. Progress is the highest turn index in the ids of tool calls, plus one answer for each assistant
 * message after it; without such ids, the number of assistant messages. Error turns leave no trace in a history, so
 * they are not counted. A client may drop any older part of the history as long as the newest tool call stays.
 */
export function chooseTurn(request: TurnRequest, script: GatewayScript): TurnChoice {
  const chosen = chooseScript(request, script.scripts);
  if (chosen === null) return { kind: 'noScript' };
  const progress = progressOf(request.messages, chosen.name);
  const start = indexAfter(chosen, progress);
  const errors: PlacedError[] = [];
  let turnIndex = start;
  for (;;) {
    const turn = turnAt(chosen, turnIndex);
    if (turn.kind === 'answer') {
      return { kind: 'turn', scriptName: chosen.name, errors, turnIndex, answer: turn };
    }
    errors.push({ turnIndex, turn });
    turnIndex += 1;
  }
}

/**
 * First by the text of the first user message and the tools that are offered; else the script named by ids, for a history
 * that lost it; else the one without `when`.
 */
function chooseScript({ messages, tools }: TurnRequest, scripts: readonly TurnScript[]): TurnScript | null {
  const firstUser = messages.find((message) => message.role === 'user');
  const text = firstUser === undefined ? '' : textOf(firstUser);
  const offered = offeredTools(tools);
  const fitting = scripts.find(
    (script) =>
      hasCondition(script) &&
      (script.contains === null || text.includes(script.contains)) &&
      (script.offers === null || offered.includes(script.offers)),
  );
  if (fitting !== undefined) return fitting;
  const named = new Set(messages.flatMap(originsOf).map((origin) => origin.scriptName));
  const byId = scripts.find((script) => named.has(script.name));
  return byId ?? scripts.find((script) => !hasCondition(script)) ?? null;
}

function hasCondition({ contains, offers }: TurnScript): boolean {
  return contains !== null || offers !== null;
}

function originsOf(message: ChatMessage) {
  const ids = (message.tool_calls ?? []).map((call) => call.id);
  if (typeof message.tool_call_id === 'string') ids.push(message.tool_call_id);
  return ids.map(parseCallId).filter((origin) => origin !== null);
}

function progressOf(messages: readonly ChatMessage[], scriptName: string): Progress {
  let lastTurnIndex = -1;
  let saidSince = 0;
  for (const message of messages) {
    const own = originsOf(message).filter((origin) => origin.scriptName === scriptName);
    const highest = Math.max(-1, ...own.map((origin) => origin.turnIndex));
    if (own.length === 0) {
      if (message.role === 'assistant') saidSince += 1;
    } else if (highest >= lastTurnIndex) {
      lastTurnIndex = highest;
      saidSince = 0;
    }
  }
  return { lastTurnIndex, saidSince };
}

/** The index of the turn after the last one answered, errors between them not skipped. */
function indexAfter(script: TurnScript, progress: Progress): number {
  let index = progress.lastTurnIndex + 1;
  for (let left = progress.saidSince; left > 0; left -= 1) {
    while (turnAt(script, index).kind === 'error') index += 1;
    index += 1;
  }
  return index;
}

/** Past the end, the final turn for ever: the index goes on, so that ids stay unique. */
function turnAt(script: TurnScript, index: number): Turn {
  return script.turns[index] ?? script.finalTurn;
}
