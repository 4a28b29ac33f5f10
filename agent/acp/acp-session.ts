/**
 * The session of one conversation with its agent: the program while it runs, the turn that goes on, and the permissions
 * that it waits for.
 * Owns the life of the program and what of it is stored with the conversation; when a turn begins and what its end means
 * is the loop's part.
 */
import { environmentMessage } from '../conversation/event.ts';
import { ACP_CANCEL_MS } from '../limits.ts';
import { messageOf } from '../serve/log.ts';
import { endWithError } from '../loop/loop.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import { makeFolder } from '../tool-files.ts';
import { settledWithin } from '../world.ts';
import { AcpError, type AcpAgent } from './acp-agent.ts';
import type { AcpConnection } from './acp-connection.ts';
import { AcpTurn, type PermissionOption, type PermissionOutcome } from './acp-turn.ts';
import { nextPrompt, unseenMessages } from './acp-prompt.ts';
import { ClientTerminals } from './client-terminals.ts';
import { agentEnvironment, agentHome, filledServers, modelName } from './agent-surroundings.ts';
import type { SessionSurroundings } from './agent-surroundings.ts';
import type { Capabilities } from './session-opening.ts';
import { decidePermission } from './permission.ts';
import { UpdateRecorder } from './update-recorder.ts';
import { readUpdate, type ToolCallChange } from './wire-updates.ts';

const INTERRUPTED = {
  code: 'AgentProcessError',
  classification: { kind: 'transient', retryable: true, user_action: 'retry' },
} as const;

interface Running {
  readonly connection: AcpConnection;
  readonly sessionId: string;
  readonly capabilities: Capabilities;
  /** What it was started with: other values mean another program. */
  readonly startedWith: string;
}

export class AcpSession {
  readonly #around: SessionSurroundings;
  readonly #terminals: ClientTerminals;
  readonly #recorder: UpdateRecorder;
  /** Approved before a stop: the same request is not put to the user again. */
  readonly #approved = new Set<string>();
  #servers: McpServers;
  #running: Running | null = null;
  /** The session of a program is just being loaded: the updates it sends were recorded before. */
  #isOpening = false;
  #isFresh = false;
  #notes: string[] = [];
  #turn: AcpTurn | null = null;
  #malformed = 0;
  #isClosed = false;

  constructor(servers: McpServers, around: SessionSurroundings) {
    this.#servers = servers;
    this.#around = around;
    const { conversation, uuid, mask } = around;
    this.#terminals = new ClientTerminals({ workingDir: conversation.meta.working_dir, uuid });
    this.#recorder = new UpdateRecorder({
      ...{ conversation, uuid, mask },
      terminalText: (id) => this.#terminals.text(id),
      recorded: () => this.#turn?.tell({ kind: 'recorded' }),
    });
  }

  /** The turn that goes on, whether or not a run follows it; null between turns. */
  get turn(): AcpTurn | null {
    return this.#turn;
  }

  get steps(): number {
    return this.#recorder.steps;
  }

  /** Actions that wait for the user. */
  get heldActionIds(): readonly string[] {
    return this.#turn?.heldActionIds ?? [];
  }

  /** Whether there is a message that the agent was not sent. */
  hasUnseen(): boolean {
    const { meta, log } = this.#around.conversation;
    return unseenMessages(meta, log.all()).length > 0;
  }

  arm(servers: McpServers): void {
    this.#servers = servers;
  }

  /** Sent to the agent with its next prompt; with a key, what was approved is not put to the user again. */
  note(text: string, approvedKey: string | null = null): void {
    this.#notes.push(text);
    if (approvedKey !== null) this.#approved.add(approvedKey);
  }

  /**
   * A program that runs with the keys of now, and its session. A turn that is ending is waited for.
   * @throws AcpError, McpConfigError
   */
  async open(): Promise<void> {
    if (this.#turn?.isCancelled === true) await this.#settle(this.#turn);
    const env = agentEnvironment(this.#around, this.#agent());
    const startedWith = JSON.stringify(env);
    if (this.#running?.connection.isOpen() === true) {
      if (this.#running.startedWith === startedWith || this.#turn !== null) return;
      await this.close();
    }
    this.#turn = null;
    await makeFolder(agentHome(this.#around));
    const { connectAcp } = await import('./acp-connection.ts');
    const { answerRequest } = await import('./client-requests.ts');
    const opening = await import('./session-opening.ts');
    const { meta } = this.#around.conversation;
    let sessionId: string | null = null;
    const requests = {
      sessionId: () => this.#running?.sessionId ?? sessionId,
      terminals: this.#terminals,
      environment: () => env,
      permission: (call: ToolCallChange, options: readonly PermissionOption[]) => this.#decide(call, options),
    };
    this.#isOpening = true;
    const connection = await connectAcp(
      { command: this.#agent().command, cwd: meta.working_dir, env },
      {
        answer: (method, params) => answerRequest(requests, { method, params }),
        updated: (params) => this.#updated(params),
      },
    );
    try {
      const capabilities = await opening.initializeAgent(connection, this.#agent());
      const servers = opening.serversFor(filledServers(this.#servers, this.#around.secrets()), capabilities);
      sessionId = this.#agent().session_id;
      const opened = await opening.openSession(connection, {
        ...{ agent: this.#agent(), capabilities, workingDir: meta.working_dir },
        ...{ mcpServers: servers, model: modelName(meta.llm.model) },
      });
      this.#running = { connection, sessionId: opened.sessionId, capabilities, startedWith };
      this.#isFresh = opened.origin !== 'continued';
      const { name, version } = capabilities;
      this.#store({ session_id: opened.sessionId, told_name: name, told_version: version });
      if (opened.origin === 'lost') this.#tellLoss(opened.reason ?? '');
      void connection.ended.then((why) => this.#programEnded(connection, why));
    } catch (error) {
      await connection.close();
      throw error;
    } finally {
      await nextTick();
      this.#isOpening = false;
    }
  }

  /** Sends what the agent has not seen. What is stored of it is stored first: a message is never lost by a stop. */
  prompt(): AcpTurn {
    const running = this.#running;
    if (running === null) throw new AcpError('AgentProcessError', 'The agent does not run');
    const { conversation } = this.#around;
    const { blocks, promptedEventId } = nextPrompt({
      ...{ meta: conversation.meta, events: conversation.log.all(), isFresh: this.#isFresh },
      ...{ takesImages: running.capabilities.takesImages, notes: this.#notes },
    });
    this.#isFresh = false;
    this.#notes = [];
    // What came late belongs to the turn before.
    this.#recorder.flushText();
    this.#recorder.steps = 0;
    this.#store({ prompted_event_id: promptedEventId });
    const answer = running.connection
      .request('session/prompt', { sessionId: running.sessionId, prompt: blocks }, null)
      .finally(nextTick)
      .then(stopReasonOf);
    const turn = new AcpTurn(answer);
    this.#turn = turn;
    void turn.ended.then(() => this.#turnEnded(turn));
    return turn;
  }

  /** Refuses what waits, and ends the turn: the agent rests until a client starts it again. */
  refuse(reason: string): void {
    const turn = this.#turn;
    if (turn === null) return;
    for (const call of turn.refuseAll()) {
      this.#recorder.settled(call.id);
      this.note(`You were not allowed to do this: ${call.title || call.kind}. ${reason}`.trim());
    }
    void this.cancel(turn);
  }

  /** Resolves when the turn has ended; a program that does not end it is ended itself. */
  async cancel(turn: AcpTurn): Promise<void> {
    if (turn.hasEnded) return;
    turn.isCancelled = true;
    turn.cancelAll();
    if (this.#running !== null)
      this.#running.connection.notify('session/cancel', { sessionId: this.#running.sessionId });
    await this.#settle(turn);
  }

  /** For ever: nothing of what still comes is recorded. */
  async dispose(): Promise<void> {
    this.#isClosed = true;
    await this.close();
  }

  async close(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    this.#terminals.close();
    await running?.connection.close();
  }

  async #settle(turn: AcpTurn): Promise<void> {
    if (await settledWithin(turn.ended, ACP_CANCEL_MS)) return;
    this.#around.log('warning', 'agent did not end its turn, and is ended', {
      id: this.#around.conversation.id,
    });
    await this.close();
    await turn.ended;
  }

  #agent(): AcpAgent {
    const { acp } = this.#around.conversation.meta;
    if (acp === null) throw new Error('The conversation has no agent of its own');
    return acp;
  }

  #store(change: Partial<AcpAgent>): void {
    const { conversation } = this.#around;
    const changed = { ...this.#agent(), ...change };
    if (JSON.stringify(changed) !== JSON.stringify(this.#agent())) conversation.setMeta({ acp: changed });
  }

  #tellLoss(reason: string): void {
    const { conversation, log } = this.#around;
    log('warning', 'session of the agent was lost', { id: conversation.id, reason });
    const text = `The agent could not take up its session again (${reason}), and begins a fresh one.`;
    conversation.append(environmentMessage(text));
  }

  #updated(params: unknown): void {
    if (this.#isClosed) return;
    const read = readUpdate(params);
    if (read.kind === 'malformed') {
      this.#malformed += 1;
      // Once: an agent of a later release may send thousands.
      if (this.#malformed === 1)
        this.#around.log('warning', 'agent told what cannot be read', { problem: read.problem });
    }
    if (read.kind !== 'update' || this.#isOpening || read.sessionId !== this.#running?.sessionId) return;
    this.#recorder.take(read.update);
  }

  async #decide(change: ToolCallChange, options: readonly PermissionOption[]): Promise<PermissionOutcome> {
    const turn = this.#turn;
    if (this.#isClosed || turn === null) return { outcome: 'cancelled' };
    const around = { ...this.#around, turn, recorder: this.#recorder, approved: this.#approved };
    return await decidePermission(around, change, options);
  }

  #turnEnded(turn: AcpTurn): void {
    if (this.#turn === turn) this.#turn = null;
    if (this.#isClosed) return;
    try {
      this.#recorder.endTurn();
    } catch (error) {
      this.#around.log('error', 'end of a turn could not be recorded', { error: messageOf(error) });
    }
    // No run follows a turn that waits for the user; an answer of the user would now have nothing to answer.
    const { conversation } = this.#around;
    if (conversation.status !== 'waiting_for_confirmation') return;
    if (turn.failure === null) conversation.setStatus('idle');
    else endWithError({ conversation }, { ...INTERRUPTED, detail: messageOf(turn.failure) });
  }

  #programEnded(connection: AcpConnection, why: string): void {
    if (this.#running?.connection !== connection) return;
    this.#running = null;
    this.#terminals.close();
    this.#around.log('warning', 'agent has ended', { id: this.#around.conversation.id, why });
  }
}

function stopReasonOf(answer: unknown): string {
  const reason =
    typeof answer === 'object' && answer !== null && 'stopReason' in answer ? answer.stopReason : null;
  if (typeof reason === 'string') return reason;
  throw new AcpError('AgentProtocolError', 'Cannot read answer to "session/prompt": it has no stop reason');
}

/** What came before an answer is passed on after it, a turn of the event loop later. */
async function nextTick(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
