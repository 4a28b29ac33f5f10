/**
 * One Agent Server, as the activities call it.
 * Owns the interface; spelling on the wire (lower case, hyphenated ids) is the client's business.
 */
import type { ConversationId } from '../core/ids.ts';
import type { PlanAgent } from '../core/plan/plan-agent.ts';
import type { ExecutionStatus } from '../core/status.ts';
import type { SandboxAddress } from './sandbox-runtime.ts';

/** A patch, and what the work tree has that it has not: one sentence each, written inside the sandbox. */
export interface WorkspacePatch {
  readonly content: Uint8Array;
  readonly findings: readonly string[];
}

/** Where an Agent Server is reached: as its runtime says, or through the worker of the host on which its sandbox lives. */
export interface AgentAddress extends Pick<SandboxAddress, 'sandboxId' | 'generation'> {
  /** `relay`: `HOST:PORT` of that worker. */
  readonly agent: SandboxAddress['agent'] | { readonly relay: string };
}

/** Which Agent Server to call, and with which key. */
export interface AgentTarget {
  readonly address: AgentAddress;
  readonly sessionKey: string;
}

/** What an agent is given to begin with. */
export interface AgentConversationRequest {
  readonly conversationId: ConversationId;
  /** Absolute path inside the sandbox. */
  readonly workingDir: string;
  readonly llm: AgentModel;
  /** Environment name → value; given before the first action (D20). */
  readonly secrets: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly iterationsMax: number;
  readonly confirmation: 'never' | 'risky' | 'always';
  readonly userId: string | null;
  /** Absolute folders inside the sandbox, each with a plugin; one that cannot be loaded refuses the conversation. */
  readonly plugins?: readonly string[];
  /** A program of the sandbox that works in place of the server's own loop; absent for none. */
  readonly agent?: PlanAgent;
}

/** The model that an agent is to use, and how it is reached. */
export interface AgentModel {
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly extraHeaders: Readonly<Record<string, string>>;
  /** Header that carries the conversation id on every model call (D23). */
  readonly sessionHeader: string;
}

/** Usage as the agent counted it; the accounting itself comes from the proxy and the gateway. */
export interface AgentMetrics {
  readonly modelName: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly accumulatedCostUsd: number;
}

/** How a conversation stands in its agent. */
export interface AgentConversationView {
  readonly conversationId: ConversationId;
  readonly executionStatus: ExecutionStatus;
  /** Why an agent paused by itself, when it did (D6). */
  readonly pausedReason: 'rate_limit' | null;
  /** It stopped because its iterations were used up: a limit, not an error (D28). */
  readonly iterationLimitReached: boolean;
  /** Why it is in ERROR, as the agent said it; null otherwise. */
  readonly detail: string | null;
  /** With a rate limit: when the endpoint may be called again, epoch milliseconds; null when it did not say. */
  readonly retryAt: number | null;
  readonly metrics: AgentMetrics | null;
  /** Its workspace had no room left at some moment: what was written then may be missing. Absent where it is not checked. */
  readonly diskWasFull?: boolean;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

/** An event as the Agent Server sends it; its fields beyond these pass through untouched. */
export interface AgentEvent {
  readonly id: string;
  readonly timestamp: string;
  readonly kind: string;
  readonly source: string;
  readonly [field: string]: unknown;
}

/** A file that is not as in the commit where the work began. */
export interface GitChange {
  readonly status: 'MOVED' | 'ADDED' | 'DELETED' | 'UPDATED';
  /** Relative to the repository. */
  readonly path: string;
}

/** Both sides of a file; null where it is missing on that side or is no text. */
export interface GitDiff {
  readonly modified: string | null;
  readonly original: string | null;
}

/** A skill that a workspace brings. */
export interface WorkspaceSkill {
  readonly name: string;
  /** Always in the prompt, added where a message holds a trigger, or offered by its description. */
  readonly type: 'repo' | 'knowledge' | 'agentskills';
  readonly content: string;
  readonly triggers: readonly string[];
  readonly description: string | null;
  /** Absolute path inside the sandbox. */
  readonly source: string | null;
}

/** Commands around the agent's steps, by event; `matcher` takes names of tools. */
export type WorkspaceHooks = Readonly<Record<string, readonly WorkspaceHookMatcher[]>>;

/** Hooks of one event for the tools whose name matches. */
export interface WorkspaceHookMatcher {
  readonly matcher: string;
  readonly hooks: readonly {
    readonly type: string;
    readonly command: string;
    /** Seconds. */
    readonly timeout: number;
    readonly async: boolean;
  }[];
}

/** How a command in a sandbox ended. */
export interface CommandResult {
  /** -1 when the time ran out. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Every call has a deadline of its own (default 30 s).
 * @throws ParleyError agent_unreachable (try again), agent_refused (a repeat changes nothing), not_found
 */
export interface AgentEventPage {
  readonly items: readonly AgentEvent[];
  readonly nextPageId: string | null;
  /** Of the answer as it came; absent where it was not counted. */
  readonly bytes?: number;
}

/** What the activities need of an Agent Server. */
export interface AgentServer {
  /** Seconds since the agent's last activity, by rule D9. */
  idleSeconds(target: AgentTarget): Promise<number>;
  /** Creates, or returns the one that exists and arms it again with model key and secrets. Never starts a run. */
  openConversation(target: AgentTarget, request: AgentConversationRequest): Promise<AgentConversationView>;
  conversation(target: AgentTarget, id: ConversationId): Promise<AgentConversationView | null>;
  /** Exactly once by `messageId` (a UUID): a repeat is answered as success. `run` starts the agent on it. */
  sendMessage(
    target: AgentTarget,
    id: ConversationId,
    message: { readonly messageId: string; readonly text: string; readonly run: boolean },
  ): Promise<void>;
  /** Starts or continues the agent; already running is success. */
  run(target: AgentTarget, id: ConversationId): Promise<void>;
  pause(target: AgentTarget, id: ConversationId): Promise<void>;
  interrupt(target: AgentTarget, id: ConversationId): Promise<void>;
  answerConfirmation(
    target: AgentTarget,
    id: ConversationId,
    answer: { readonly accept: boolean; readonly reason: string },
  ): Promise<void>;
  /** One page of the event log in time order; `pageId` null starts at the beginning. */
  events(target: AgentTarget, id: ConversationId, pageId: string | null): Promise<AgentEventPage>;
  /** Removing one that does not exist is success. */
  deleteConversation(target: AgentTarget, id: ConversationId): Promise<void>;
  /** A fresh shell in the sandbox. */
  execute(
    target: AgentTarget,
    command: { readonly command: string; readonly workingDir: string; readonly timeoutMs: number },
  ): Promise<CommandResult>;
  /**
   * Null when the file does not exist. @throws ParleyError agent_refused with `bytesMax` in its details: it has more
   * bytes than that, or than the client's own bound
   */
  readFile(target: AgentTarget, path: string, bytesMax?: number): Promise<Uint8Array | null>;
  writeFile(target: AgentTarget, path: string, content: Uint8Array): Promise<void>;
  /** What the folder (absolute) brings for its agents, as a new conversation gets it (D37). */
  skills(target: AgentTarget, folder: string): Promise<readonly WorkspaceSkill[]>;
  /** Empty also where they cannot be read: the conversation's own event says so. */
  hooks(target: AgentTarget, folder: string): Promise<WorkspaceHooks>;
  /** Reads the body of a callback; null while the conversation is being deleted. @throws ParleyError agent_refused */
  readCallback(body: unknown): AgentConversationView | null;
  /** What changed in the repository around `path` (absolute) since `ref`; empty outside a repository. */
  gitChanges(
    target: AgentTarget,
    request: { readonly path: string; readonly ref: string | null },
  ): Promise<readonly GitChange[]>;
  /** One file before and after; both null outside a repository. */
  gitDiff(
    target: AgentTarget,
    request: { readonly path: string; readonly ref: string | null },
  ): Promise<GitDiff>;
  /** One patch of everything since `baseCommit`, a commit or a tree: committed, uncommitted and untracked. */
  patch(
    target: AgentTarget,
    request: { readonly path: string; readonly baseCommit: string },
  ): Promise<WorkspacePatch>;
}
