/**
 * What the steps of one run share. Owns types only, so that the loop's files need not know each other.
 */
import type { Activity } from '../activity.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { Action } from '../conversation/event.ts';
import type { Log } from '../serve/log.ts';
import type { ToolSet } from '../tools/tool-set.ts';
import type { World } from '../world.ts';

/** What others ask of a run while it goes on. */
export interface RunControl {
  /** Stop after the step at hand. */
  pauseRequested: boolean;
  /** A message asked for a run after the last prompt was made: finishing must wait for another step. */
  rearmed: boolean;
  /** Why the signal fired; null while it has not. */
  abortedBy: 'user' | 'server' | 'deletion' | null;
}

export interface LoopContext {
  readonly conversation: Conversation;
  readonly tools: ToolSet;
  readonly world: World;
  readonly log: Log;
  readonly activity: Activity;
  readonly secrets: () => Readonly<Record<string, string>>;
  readonly control: RunControl;
  readonly signal: AbortSignal;
  /** Actions as the model wrote them, by event id; the log has them masked, which may not run. */
  readonly rawActions: Map<string, Action>;
  /** Events before this index do not count as going in circles. */
  readonly stuckFloor: number;
}
