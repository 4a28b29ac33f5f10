/**
 * All conversations of this server, loaded or made. Owns their creation, reload and removal, and wires each one's
 * log, tools and run together.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { AcpSession } from '../acp/acp-session.ts';
import type { Activity } from '../activity.ts';
import { failAction } from '../loop/action-step.ts';
import { AgentRun } from '../loop/agent-run.ts';
import { interruptedError } from '../loop/loop.ts';
import { Conversation, type ConversationListener } from './conversation.ts';
import { newMeta, type ConversationMeta } from './conversation-meta.ts';
import type { ConversationStore } from './conversation-store.ts';
import { textContent } from './event.ts';
import { HttpError } from '../serve/http-error.ts';
import { CONVERSATIONS_MAX } from '../limits.ts';
import { messageOf, type Log } from '../serve/log.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import { McpTools } from '../mcp/mcp-tools.ts';
import type { Equipment } from '../plugins/merge-plugins.ts';
import { maskMeta } from './masked-record.ts';
import { systemPrompt } from '../model/prompt.ts';
import type { SecretVault } from '../secret-vault.ts';
import type { StartRequest } from './start-request.ts';
import { zonedTimestamp } from '../timestamp.ts';
import { makeToolSet, type ToolSet } from '../tools/tool-set.ts';
import type { World } from '../world.ts';
import { pendingActions } from './turns.ts';

interface RegistrySurroundings {
  readonly store: ConversationStore;
  readonly vault: SecretVault;
  readonly activity: Activity;
  readonly world: World;
  readonly log: Log;
  readonly listener: ConversationListener;
  readonly workspaceDir: string;
}

export interface Entry {
  readonly conversation: Conversation;
  readonly run: AgentRun;
  readonly tools: ToolSet;
}

export class ConversationRegistry {
  readonly #around: RegistrySurroundings;
  readonly #entries = new Map<string, Entry>();

  constructor(around: RegistrySurroundings) {
    this.#around = around;
  }

  /** Reloads every stored conversation; one that cannot be read is logged and left alone. */
  loadAll(): void {
    for (const id of this.#around.store.ids()) {
      try {
        const entry = this.#open(this.#around.store.readMeta(id));
        const { unreadableLines } = entry.conversation.log;
        if (unreadableLines > 0)
          this.#around.log('warning', 'event log has unreadable lines', { id, unreadableLines });
        repairAfterReload(entry.conversation);
      } catch (error) {
        this.#around.log('error', 'conversation could not be loaded', { id, error: messageOf(error) });
      }
    }
  }

  get(id: string): Entry | null {
    return this.#entries.get(id) ?? null;
  }

  all(): readonly Entry[] {
    return [...this.#entries.values()];
  }

  /**
   * Makes a conversation that does not exist yet. Secrets are in the vault before anything is written.
   *
   * @throws HttpError 429 when there are too many
   */
  create(id: string, request: StartRequest, equipment: Equipment): Entry {
    if (this.#entries.size >= CONVERSATIONS_MAX) {
      throw new HttpError(429, `Cannot create conversation: ${CONVERSATIONS_MAX} exist already`);
    }
    const { store, vault, world, workspaceDir } = this.#around;
    const workingDir = resolve(workspaceDir, request.workspace.working_dir ?? '.');
    mkdirSync(workingDir, { recursive: true });
    const createdAt = zonedTimestamp(world.nowMs());
    const meta = maskMeta(newMeta(request, { id, createdAt, workingDir, equipment }), vault);
    store.writeMeta(meta);
    const entry = this.#open(meta, equipment.mcpServers);
    for (const finding of equipment.findings) logUnusable(entry, finding);
    return entry;
  }

  /** `servers` are those of the meta, with the values that stand in no file. */
  #open(meta: ConversationMeta, servers: McpServers = meta.mcp_servers): Entry {
    const { store, vault, activity, world, log, listener, workspaceDir } = this.#around;
    const conversation = new Conversation(meta, store.openLog(meta.id), {
      listener,
      redactor: vault,
      writeMeta: (changed) => store.writeMeta(changed),
      nowMs: () => world.nowMs(),
    });
    const surroundings = {
      workingDir: meta.working_dir,
      secrets: () => vault.environmentOf(meta.id),
      mask: (text: string) => vault.text(text),
      nowMs: () => world.nowMs(),
      uuid: () => world.uuid(),
      growing: (say: (piece: string) => void) => conversation.growing(say),
    };
    const acp =
      meta.acp === null
        ? null
        : new AcpSession(servers, { conversation, log, workspaceDir, ...surroundings });
    const tools =
      acp === null
        ? makeToolSet(meta.tools, surroundings, {
            events: conversation.log.all(),
            external: new McpTools(servers, surroundings),
          })
        : acpToolSet(acp);
    const ended = (): void => listener.runEnded(conversation);
    const { secrets } = surroundings;
    const run = new AgentRun(conversation, { tools, acp, world, log, activity, secrets, ended });
    const entry = { conversation, run, tools };
    this.#entries.set(meta.id, entry);
    // Also after a crash between the two files of a new conversation.
    if (conversation.log.all().length === 0) logSystemPrompt(entry);
    return entry;
  }

  /** Ends the run, removes the files and forgets the secrets. */
  async remove(entry: Entry): Promise<void> {
    const { id } = entry.conversation;
    const { store, vault } = this.#around;
    const ended = entry.run.abort('deletion');
    await ended;
    await entry.run.endSession();
    entry.conversation.markDeleting();
    entry.tools.close();
    entry.conversation.log.close();
    this.#entries.delete(id);
    store.remove(id);
    vault.forget(id);
  }

  /** Ends all runs and shells and brings all logs to the disk. */
  async close(): Promise<void> {
    await Promise.all(this.all().map((entry) => entry.run.abort('server')));
    for (const entry of this.all()) {
      entry.tools.close();
      entry.conversation.log.close();
    }
  }
}

/** What a repository or a plugin brings and cannot be used is logged, and the agent works without it (D37). */
function logUnusable({ conversation }: Entry, detail: string): void {
  conversation.append({
    kind: 'ConversationErrorEvent',
    source: 'environment',
    code: 'SurfaceUnreadable',
    detail,
    classification: { kind: 'config', retryable: false, user_action: 'settings' },
  });
}

function logSystemPrompt({ conversation, tools }: Entry): void {
  conversation.append({
    kind: 'SystemPromptEvent',
    source: 'agent',
    system_prompt: textContent(systemPrompt(conversation.meta)),
    tools: tools.tools.map((tool) => ({
      kind: tool.actionKind.replace(/Action$/, 'Tool'),
      title: tool.title,
      description: tool.description,
      action_type: tool.actionKind,
    })),
    dynamic_context: null,
  });
}

/** Repeating it changes nothing. */
function repairAfterReload(conversation: Conversation): void {
  const pending = pendingActions(conversation.log.all());
  if (conversation.status === 'waiting_for_confirmation') {
    if (pending.length === 0) conversation.setStatus('idle');
    return;
  }
  for (const action of pending) {
    failAction(
      conversation,
      action,
      'The agent server ended before this action had a result. It may have run in part: check before you repeat it.',
      { kind: 'transient', retryable: true, user_action: 'none' },
    );
  }
  if (conversation.status !== 'running') return;
  const error = interruptedError('the agent server ended');
  conversation.append({ kind: 'ConversationErrorEvent', source: 'environment', ...error });
  conversation.setStatus('error');
}

/**
 * The tools of a conversation whose agent is a program of its own: it brings them, and its servers of tools are its.
 */
function acpToolSet(session: AcpSession): ToolSet {
  return {
    tools: [],
    prepare: () => Promise.resolve(),
    arm: (servers) => session.arm(servers),
    get: () => null,
    close: () => void session.dispose().catch(() => undefined),
  };
}
