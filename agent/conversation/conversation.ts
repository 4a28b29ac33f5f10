/**
 * One conversation: its stored request, its event log, and the state that follows from the log.
 * Owns every change of either; the log is the truth, so a reload arrives at the same state.
 * Does not run the agent: that is the run's part.
 */
import type { AppendOptions, EventLog } from './event-log.ts';
import type { ConversationEvent, EventDraft, StateUpdateEvent } from './event.ts';
import type { ConversationMeta } from './conversation-meta.ts';
import { GrowingText } from './growing-text.ts';
import { maskEvent, maskMeta } from './masked-record.ts';
import { EMPTY_STATS, statsSchema, type Stats } from '../metrics.ts';
import type { Redactor } from '../redaction.ts';
import { hasRoom, isFullDisk } from '../disk-room.ts';
import { zonedTimestamp } from '../timestamp.ts';

export const EXECUTION_STATUSES = [
  'idle',
  'running',
  'paused',
  'waiting_for_confirmation',
  'finished',
  'error',
  'stuck',
  'deleting',
] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/** What an agent reports about its own pause (D6). */
interface AgentState {
  readonly paused_reason?: 'rate_limit';
  /** When the model endpoint wants to be called again, if it said so; zoned. */
  readonly retry_at?: string;
  /** Why the last run ended in `error`: code and text of its ConversationErrorEvent. */
  readonly error_code?: string;
  readonly error_detail?: string;
  /** The workspace had no room left at some moment of the work: what was written then may be missing. */
  readonly disk_was_full?: true;
}

/** The parts of a conversation that reach others. */
export interface ConversationListener {
  eventAppended(conversation: Conversation, event: ConversationEvent): void;
  /** Called after a change of status or stored fields. */
  infoChanged(conversation: Conversation): void;
  /** Called when a run has ended, behind its last event. */
  runEnded(conversation: Conversation): void;
  /** Whether a client listens for what is not an event yet. */
  isWatched(conversation: Conversation): boolean;
  /** Called for each piece of what is not an event yet; it is masked, and kept nowhere. */
  partialCame(conversation: Conversation, partial: PartialEvent): void;
}

interface ConversationSurroundings {
  readonly listener: ConversationListener;
  readonly writeMeta: (meta: ConversationMeta) => void;
  readonly redactor: Redactor;
  readonly nowMs: () => number;
}

/** Model access that is never stored. */
interface LlmArming {
  readonly apiKey: string | null;
  /** Credential headers and whatever else the caller sent; they win over the stored ones. */
  readonly extraHeaders: Readonly<Record<string, string>>;
}

export class Conversation {
  readonly id: string;
  readonly log: EventLog;
  readonly #around: ConversationSurroundings;
  #meta: ConversationMeta;
  #arming: LlmArming = { apiKey: null, extraHeaders: {} };
  #status: ExecutionStatus;
  #agentState: AgentState;
  #stats: Stats;
  #lastUserMessageId: string | null;
  #updatedAt: string;
  #diskWasFull: boolean;

  constructor(meta: ConversationMeta, log: EventLog, around: ConversationSurroundings) {
    this.id = meta.id;
    this.#meta = meta;
    this.log = log;
    this.#around = around;
    this.#status = restoredStatus(log);
    this.#agentState = (lastState(log, 'agent_state')?.value ?? {}) as AgentState;
    this.#diskWasFull = this.#agentState.disk_was_full ?? false;
    this.#stats = statsSchema.safeParse(lastState(log, 'stats')?.value).data ?? EMPTY_STATS;
    this.#lastUserMessageId = log.last(isUserMessage)?.id ?? null;
    const last = log.all().at(-1);
    this.#updatedAt = last === undefined ? meta.created_at : `${last.timestamp}Z`;
  }

  get meta(): ConversationMeta {
    return this.#meta;
  }
  get arming(): LlmArming {
    return this.#arming;
  }
  get status(): ExecutionStatus {
    return this.#status;
  }
  get agentState(): AgentState {
    return this.#diskWasFull ? { ...this.#agentState, disk_was_full: true } : this.#agentState;
  }
  get stats(): Stats {
    return this.#stats;
  }
  get lastUserMessageId(): string | null {
    return this.#lastUserMessageId;
  }
  get updatedAt(): string {
    return this.#updatedAt;
  }

  /** Masks and appends one event, and notifies the listener. */
  append(draft: EventDraft, options: AppendOptions = {}): ConversationEvent {
    const event = this.#write(maskEvent(draft, this.#around.redactor), options);
    if (event.source === 'environment') this.noteRoom();
    this.#updatedAt = `${event.timestamp}Z`;
    if (isUserMessage(event)) this.#lastUserMessageId = event.id;
    this.#around.listener.eventAppended(this, event);
    return event;
  }

  #write(draft: EventDraft, options: AppendOptions): ConversationEvent {
    try {
      return this.log.append(draft, options);
    } catch (error) {
      this.#diskWasFull ||= isFullDisk(error);
      throw error;
    }
  }

  /** Checks whether the workspace has room, and remembers when it has none. */
  noteRoom(): void {
    this.#diskWasFull ||= !hasRoom(this.#meta.working_dir);
  }

  /** Whether it is worth streaming words as they come. */
  get isWatched(): boolean {
    return this.#around.listener.isWatched(this);
  }

  /** A text that watching clients see growing, in pieces that are masked. */
  growing(say: (piece: string) => void): GrowingText {
    return new GrowingText({ redactor: this.#around.redactor, isWatched: () => this.isWatched, say });
  }

  /** Its text is masked already: half a value could not be recognised here. */
  tellPartial(partial: PartialEvent): void {
    this.#around.listener.partialCame(this, partial);
  }

  appendState(key: string, value: unknown): void {
    this.append({ kind: 'ConversationStateUpdateEvent', source: 'environment', key, value });
  }

  /**
   * Moves to a status; staying in the same one notifies no listener. The log comes first: a status that a full disk
   * refused was never taken, or a conversation would count as running without a run.
   */
  setStatus(status: ExecutionStatus, newState: AgentState = {}): void {
    const agentState: AgentState = this.#diskWasFull ? { ...newState, disk_was_full: true } : newState;
    if (JSON.stringify(agentState) !== JSON.stringify(this.#agentState)) {
      this.appendState('agent_state', agentState);
      this.#agentState = agentState;
    }
    if (status === this.#status) return;
    this.appendState('execution_status', status);
    this.#status = status;
    this.#around.listener.infoChanged(this);
  }

  /** The last status of all: reported, but not logged, since the log goes away with it. */
  markDeleting(): void {
    this.#status = 'deleting';
    this.#around.listener.infoChanged(this);
  }

  setStats(stats: Stats): void {
    this.appendState('stats', stats);
    this.#stats = stats;
  }

  /** Replaces stored fields, on disk first. */
  setMeta(change: Partial<ConversationMeta>): void {
    const meta = maskMeta({ ...this.#meta, ...change }, this.#around.redactor);
    this.#around.writeMeta(meta);
    this.#meta = meta;
    this.#updatedAt = zonedTimestamp(this.#around.nowMs());
  }

  /** The listener is notified of what a caller changed as well. */
  announceMeta(key: 'title' | 'tags' | 'confirmation_policy' | 'security_analyzer'): void {
    this.appendState(key, this.#meta[key]);
    this.#around.listener.infoChanged(this);
  }

  arm(arming: LlmArming): void {
    this.#arming = arming;
  }
}

export function isUserMessage(
  event: ConversationEvent,
): event is Extract<ConversationEvent, { kind: 'MessageEvent' }> {
  return event.kind === 'MessageEvent' && event.source === 'user';
}

function lastState(log: EventLog, key: string): StateUpdateEvent | null {
  return log.last(
    (event): event is StateUpdateEvent => event.kind === 'ConversationStateUpdateEvent' && event.key === key,
  );
}

function restoredStatus(log: EventLog): ExecutionStatus {
  const value = lastState(log, 'execution_status')?.value;
  return EXECUTION_STATUSES.find((status) => status === value) ?? 'idle';
}

/**
 * What is sent of an event before it is there. Owns the shapes: that of words is the reference's, plus the answer that
 * they belong to. None of them is logged, and the event itself has all that they said.

/** Words of the model since the last one. */
interface StreamingDelta {
  readonly kind: 'StreamingDeltaEvent';
  readonly source: 'agent';
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly llm_response_id: string;
}

/** Output of a command that still runs, since the last one. */
interface StreamingOutput {
  readonly kind: 'StreamingOutputEvent';
  readonly source: 'environment';
  readonly tool_name: string;
  readonly tool_call_id: string;
  readonly action_id: string;
  readonly content: string;
}

export type PartialEvent = StreamingDelta | StreamingOutput;
