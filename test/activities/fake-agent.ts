/**
 * An Agent Server inside the test's own process: shell and files are real, conversations are what a test sets.
 * Owns a record of the calls; must not keep the rules of the real one.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { workspaceHooks, workspaceSkills } from '../../agent/workspace-surface.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { ConversationId } from '../../core/ids.ts';
import type {
  AgentConversationRequest,
  AgentConversationView,
  AgentEvent,
  AgentServer,
  GitChange,
  GitDiff,
} from '../../ports/agent-server.ts';
import { T0 } from '../engine/movable-clock.ts';

export interface AgentCall {
  readonly name: keyof AgentServer;
  readonly sessionKey: string;
  readonly about: unknown;
}

export function view(id: ConversationId, change: Partial<AgentConversationView> = {}): AgentConversationView {
  return {
    conversationId: id,
    executionStatus: 'IDLE',
    pausedReason: null,
    iterationLimitReached: false,
    detail: null,
    retryAt: null,
    metrics: null,
    updatedAt: T0,
    ...change,
  };
}

export function agentEvent(id: string, change: Partial<AgentEvent> = {}): AgentEvent {
  return { id, timestamp: '2026-07-24T10:00:00Z', kind: 'MessageEvent', source: 'agent', ...change };
}

export class FakeAgent implements AgentServer {
  readonly calls: AgentCall[] = [];
  /** Null answers as if the conversation were not known. */
  view: AgentConversationView | null = null;
  /** Pages of the event log, in order. */
  pages: (readonly AgentEvent[])[] = [];
  idle = 0;
  patchText = '';
  patchFindings: readonly string[] = [];
  changes: readonly GitChange[] = [];
  diff: GitDiff = { modified: null, original: null };
  /** Thrown by every call until it is null. */
  error: ParleyError | null = null;
  opened: AgentConversationRequest | null = null;

  idleSeconds: AgentServer['idleSeconds'] = (target) =>
    this.answer('idleSeconds', target, null, () => this.idle);
  conversation: AgentServer['conversation'] = (target, id) =>
    this.answer('conversation', target, id, () => this.view);
  sendMessage: AgentServer['sendMessage'] = (target, _id, about) => this.done('sendMessage', target, about);
  run: AgentServer['run'] = (target, id) => this.done('run', target, id);
  pause: AgentServer['pause'] = (target, id) => this.done('pause', target, id);
  interrupt: AgentServer['interrupt'] = (target, id) => this.done('interrupt', target, id);
  answerConfirmation: AgentServer['answerConfirmation'] = (target, _id, about) =>
    this.done('answerConfirmation', target, about);
  deleteConversation: AgentServer['deleteConversation'] = (target, id) =>
    this.done('deleteConversation', target, id);

  openConversation: AgentServer['openConversation'] = (target, request) =>
    this.answer('openConversation', target, request.conversationId, () => {
      this.opened = request;
      return this.view ?? view(request.conversationId);
    });

  events: AgentServer['events'] = (target, _id, pageId) =>
    this.answer('events', target, pageId, () => {
      const page = Number(pageId ?? 0);
      const nextPageId = page + 1 < this.pages.length ? String(page + 1) : null;
      return { items: this.pages[page] ?? [], nextPageId };
    });

  execute: AgentServer['execute'] = (target, { command, workingDir, timeoutMs }) =>
    this.answer('execute', target, command, () => {
      mkdirSync(workingDir, { recursive: true });
      const result = spawnSync('bash', ['-c', command], {
        cwd: workingDir,
        encoding: 'utf8',
        timeout: timeoutMs,
      });
      return { exitCode: result.status ?? -1, stdout: result.stdout, stderr: result.stderr };
    });

  readFile: AgentServer['readFile'] = (target, file, bytesMax = Infinity) =>
    this.answer('readFile', target, file, () => {
      const content = contentOf(file);
      if (content === null || content.length <= bytesMax) return content;
      throw new ParleyError('agent_refused', `"${file}" is too large`, { details: { bytesMax } });
    });

  writeFile: AgentServer['writeFile'] = (target, file, content) =>
    this.answer('writeFile', target, file, () => {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, content);
    });

  patch: AgentServer['patch'] = (target, request) =>
    this.answer('patch', target, request, () => ({
      content: Buffer.from(this.patchText),
      findings: this.patchFindings,
    }));

  gitChanges: AgentServer['gitChanges'] = (target, request) =>
    this.answer('gitChanges', target, request, () => this.changes);

  gitDiff: AgentServer['gitDiff'] = (target, request) =>
    this.answer('gitDiff', target, request, () => this.diff);

  /** Read as the real one reads them. */
  skills: AgentServer['skills'] = async (target, folder) => {
    const { skills } = await workspaceSkills(folder);
    const type = (one: (typeof skills)[number]) =>
      one.description !== null ? 'agentskills' : one.triggers.length > 0 ? 'knowledge' : 'repo';
    return await this.answer('skills', target, folder, () =>
      skills.map((one) => ({ ...one, type: type(one) })),
    );
  };

  hooks: AgentServer['hooks'] = async (target, folder) => {
    const { hooks } = await workspaceHooks(folder);
    return await this.answer('hooks', target, folder, () => hooks ?? {});
  };

  readCallback: AgentServer['readCallback'] = (body) => {
    const { id, execution_status: status } = body as {
      readonly id: ConversationId;
      readonly execution_status?: string;
    };
    if (status === 'deleting') return null;
    if (status !== 'finished')
      throw new ParleyError('agent_refused', 'Cannot read the callback: its status is unknown');
    return view(id, { executionStatus: 'FINISHED', updatedAt: T0 + 1 });
  };

  names(): readonly string[] {
    return this.calls.map(({ name }) => name);
  }

  private done(
    name: keyof AgentServer,
    target: { readonly sessionKey: string },
    about: unknown,
  ): Promise<void> {
    return this.answer(name, target, about, () => undefined);
  }

  private answer<T>(
    name: keyof AgentServer,
    { sessionKey }: { readonly sessionKey: string },
    about: unknown,
    make: () => T,
  ): Promise<T> {
    this.calls.push({ name, sessionKey, about });
    if (this.error !== null) return Promise.reject(this.error);
    try {
      return Promise.resolve(make());
    } catch (error) {
      return Promise.reject(error);
    }
  }
}

function contentOf(file: string): Uint8Array | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}
