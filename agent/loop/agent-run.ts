/**
 * The run of one conversation: at most one loop at a time, started, paused, interrupted and ended from outside.
 * Owns when a loop starts; what it does is the loop's part.
 */
import { runAcpLoop } from '../acp/acp-loop.ts';
import type { AcpSession } from '../acp/acp-session.ts';
import type { Activity } from '../activity.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { Action } from '../conversation/event.ts';
import { HttpError } from '../serve/http-error.ts';
import { runHooks } from '../hooks/run-hooks.ts';
import { LOG_WRITE_WAIT_MS, LOG_WRITES_MAX, SETTLE_MS } from '../limits.ts';
import { messageOf, type Log } from '../serve/log.ts';
import { endWithError, interruptedError, runLoop } from './loop.ts';
import { askAside, condense, type ModelContext } from '../model/model-call.ts';
import type { LoopContext, RunControl } from './loop-context.ts';
import type { ToolSet } from '../tools/tool-set.ts';
import { settledWithin, type World } from '../world.ts';

/** What starts a run; an approval is the only one that runs held actions. */
type RunCause = 'request' | 'message' | 'approval';
type RunStart = 'started' | 'already_running' | 'nothing_to_do';

interface RunSurroundings {
  readonly tools: ToolSet;
  /** Null: the loop is our own. */
  readonly acp: AcpSession | null;
  readonly world: World;
  readonly log: Log;
  readonly activity: Activity;
  /** The conversation's secrets, as hooks get them. */
  readonly secrets: () => Readonly<Record<string, string>>;
  /** Called behind the last event of a run. */
  readonly ended: () => void;
}

export class AgentRun {
  readonly #conversation: Conversation;
  readonly #around: RunSurroundings;
  readonly #rawActions = new Map<string, Action>();
  #control: RunControl = { pauseRequested: false, rearmed: false, abortedBy: null };
  #abort = new AbortController();
  #current: Promise<void> = Promise.resolve();

  constructor(conversation: Conversation, around: RunSurroundings) {
    this.#conversation = conversation;
    this.#around = around;
  }

  /** Starts the loop, or arms the running one for one more step when a message came in. */
  start(cause: RunCause): RunStart {
    const conversation = this.#conversation;
    if (conversation.status === 'running') {
      if (cause === 'message') Object.assign(this.#control, { rearmed: true, pauseRequested: false });
      return 'already_running';
    }
    if (!this.#canStart(cause)) return 'nothing_to_do';
    const stuckFloor = conversation.status === 'stuck' ? conversation.log.all().length : 0;
    const control: RunControl = { pauseRequested: false, rearmed: false, abortedBy: null };
    const abort = new AbortController();
    this.#control = control;
    this.#abort = abort;
    conversation.setStatus('running');
    const run = { conversation, control, signal: abort.signal, rawActions: this.#rawActions, stuckFloor };
    // The loop before it may still be returning; two must never overlap.
    this.#current = this.#current
      .then(() => this.#loop({ ...this.#around, ...run }, { approved: cause === 'approval' }))
      .catch((error: unknown) => this.#endUnrecorded(messageOf(error), abort.signal))
      .then(() => this.#around.ended());
    return 'started';
  }

  #loop(context: LoopContext, options: { readonly approved: boolean }): Promise<void> {
    const { acp } = this.#around;
    return acp === null ? runLoop(context, options) : runAcpLoop(acp, context, options);
  }

  /** Actions that wait for the user; null: every one without a result. */
  get heldActionIds(): readonly string[] | null {
    const { acp } = this.#around;
    return acp === null || acp.turn === null ? null : acp.heldActionIds;
  }

  /** What waits was refused: an agent that waits for the answer gets it. */
  refuse(reason: string): void {
    this.#around.acp?.refuse(reason);
  }

  /**
   * Only a log that cannot be written gets here, as on a full disk: the end is written as soon as there is room, so
   * that no client waits for a run that is over. A missing end is repaired at the next start of the server.
   */
  async #endUnrecorded(reason: string, signal: AbortSignal): Promise<void> {
    const { log, world } = this.#around;
    log('error', 'run could not be recorded', { error: reason });
    for (let tries = 0; tries < LOG_WRITES_MAX && !signal.aborted; tries += 1) {
      try {
        return endWithError(
          { conversation: this.#conversation },
          interruptedError(`its log was lost (${reason})`),
        );
      } catch {
        await world.sleep(LOG_WRITE_WAIT_MS, signal).catch(() => undefined);
      }
    }
  }

  /** Sends the model a question aside; nothing of it becomes part of the conversation. @throws LlmError */
  async ask(question: string, signal: AbortSignal): Promise<string> {
    this.#requireOwnLoop();
    return await askAside(this.#modelContext(signal), question);
  }

  /** Replaces older steps by a summary; `busy` while the loop is at work. @throws LlmError */
  async condense(signal: AbortSignal): Promise<'condensed' | 'nothing_to_do' | 'busy'> {
    this.#requireOwnLoop();
    if (this.#conversation.status === 'running') return 'busy';
    return (await condense(this.#modelContext(signal))) ? 'condensed' : 'nothing_to_do';
  }

  /** Notifies the hooks that the session ends. */
  async endSession(): Promise<void> {
    const { secrets } = this.#around;
    const signal = AbortSignal.timeout(SETTLE_MS);
    await runHooks(this.#conversation, { event: 'session_end' }, { secrets, signal }).catch(() => undefined);
  }

  /** @throws HttpError 409 the agent does not expose its conversation with the model */
  #requireOwnLoop(): void {
    if (this.#around.acp === null) return;
    throw new HttpError(409, 'Cannot ask the model aside: the agent of this conversation calls it by itself');
  }

  #modelContext(signal: AbortSignal): ModelContext {
    return { ...this.#around, conversation: this.#conversation, signal };
  }

  #canStart(cause: RunCause): boolean {
    const { status, log, lastUserMessageId } = this.#conversation;
    if (status === 'deleting') return false;
    // A held action is answered by its own route only: neither a run nor a message approves it (D8).
    if (status === 'waiting_for_confirmation') return cause === 'approval';
    const lastUser = log.indexOf(lastUserMessageId ?? '');
    if (lastUser === null) return false;
    if (status !== 'finished') return true;
    return !log.all().some((event, index) => {
      return index > lastUser && event.source === 'agent' && event.kind !== 'SystemPromptEvent';
    });
  }

  /** Requests a stop after the step at hand; an idle conversation pauses at once. */
  pause(): void {
    if (this.#conversation.status === 'running') {
      Object.assign(this.#control, { pauseRequested: true, rearmed: false });
    } else if (this.#conversation.status === 'idle') {
      this.#conversation.append({ kind: 'PauseEvent', source: 'user' });
      this.#conversation.setStatus('paused');
    }
  }

  /** Ends the run now, whatever it is doing. Resolves when it has ended, or after a bound. */
  async abort(by: NonNullable<RunControl['abortedBy']>): Promise<void> {
    if (this.#conversation.status === 'running') {
      this.#control.abortedBy ??= by;
      this.#abort.abort();
    }
    await settledWithin(this.#current, SETTLE_MS);
  }
}
