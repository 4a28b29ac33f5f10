/**
 * An Agent Server in memory that behaves: it keeps conversations, takes each message once, and finishes its work.
 * Owns that behaviour; shell, files and the record of calls are those of the fake below it.
 */
import { appendEvents } from '../../activities/transcript.ts';
import type { World } from '../../activities/world.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { AgentConversationView, AgentEvent, AgentServer } from '../../ports/agent-server.ts';
import type { ExecutionStatus } from '../../core/status.ts';
import { FakeAgent, view } from '../activities/fake-agent.ts';

export class ModelAgent extends FakeAgent {
  world: World | null = null;
  /** The status that an agent reaches when it runs. */
  outcome: ExecutionStatus = 'FINISHED';
  /** Messages in the order of their arrival, each once. */
  readonly messages: { readonly id: ConversationId; readonly messageId: string; readonly text: string }[] =
    [];
  private readonly views = new Map<ConversationId, AgentConversationView>();
  private count = 0;

  override openConversation: AgentServer['openConversation'] = (_target, request) => {
    this.opened = request;
    const { conversationId: id } = request;
    const known = this.views.get(id) ?? view(id, { updatedAt: Date.now() });
    this.views.set(id, known);
    return Promise.resolve(known);
  };

  override conversation: AgentServer['conversation'] = (_target, id) =>
    Promise.resolve(this.views.get(id) ?? null);

  override sendMessage: AgentServer['sendMessage'] = async (_target, id, { messageId, text, run }) => {
    if (this.messages.some((known) => known.messageId === messageId)) return;
    this.messages.push({ id, messageId, text });
    await this.tell(id, { source: 'user', kind: 'MessageEvent', llm_message: { content: text } });
    if (!run) return;
    this.set(id, this.outcome);
    await this.tell(id, { source: 'agent', kind: 'ActionEvent', tool_name: 'finish' });
  };

  override run: AgentServer['run'] = (_target, id) => {
    this.set(id, this.outcome);
    return Promise.resolve();
  };

  override answerConfirmation: AgentServer['answerConfirmation'] = (target, id, about) => {
    this.calls.push({ name: 'answerConfirmation', sessionKey: target.sessionKey, about });
    this.set(id, 'FINISHED');
    return Promise.resolve();
  };

  override interrupt: AgentServer['interrupt'] = (_target, id) => {
    this.set(id, 'PAUSED');
    return Promise.resolve();
  };

  override events: AgentServer['events'] = () => Promise.resolve({ items: [], nextPageId: null });

  private set(id: ConversationId, executionStatus: ExecutionStatus): void {
    this.views.set(id, view(id, { executionStatus, updatedAt: Date.now() }));
  }

  /** As a callback would bring it. */
  private async tell(id: ConversationId, event: Omit<AgentEvent, 'id' | 'timestamp'>): Promise<void> {
    if (this.world === null) return;
    this.count += 1;
    const naive = new Date().toISOString().replace('Z', '000');
    const whole = { id: `${id}-${this.count}`, timestamp: naive, ...event } as AgentEvent;
    await appendEvents(this.world, id, [whole]);
  }
}
