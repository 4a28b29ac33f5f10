/**
 * What callers may do to a conversation beyond reading it. Owns the effect of each command; routes own the wire.
 */
import { rejectAction } from '../loop/action-step.ts';
import type { Conversation } from './conversation.ts';
import { storedLlm, type ConversationMeta } from './conversation-meta.ts';
import { isCredentialHeader } from '../workspace/credential-header.ts';
import { messageDraft, plainText, textContent, type ConversationEvent } from './event.ts';
import type { Entry } from './conversation-registry.ts';
import type { SecretVault } from '../secret-vault.ts';
import { skillsFor, type Skill } from '../skills.ts';
import type { LlmRequest } from './start-request.ts';
import { pendingActions } from './turns.ts';
import type { ConfirmationPolicy, MessageRequest } from '../serve/wire-schema.ts';

/**
 * Appends a user message. One whose `messageId` is in the log already is not appended again, and nothing changes but
 * for what a full disk or a crash kept from following it the first time.
 */
export function sendMessage(
  { conversation, run }: Entry,
  message: MessageRequest,
  options: { readonly messageId: string | null; readonly run: boolean },
): void {
  const known = options.messageId === null ? null : conversation.log.get(options.messageId);
  if (known !== null && isFollowed(conversation, known.id)) return;
  const event = known ?? appendMessage(conversation, message, options.messageId);
  conversation.appendState('last_user_message_id', event.id);
  if (options.run) run.start('message');
  else if (conversation.status === 'finished') conversation.setStatus('idle');
}

/** Whether a run has been at work, or a status was set, since the message. */
function isFollowed({ log, status }: Conversation, messageId: string): boolean {
  if (status === 'running') return true;
  const since = log.all().slice((log.indexOf(messageId) ?? -1) + 1);
  return since.some((event) =>
    event.kind === 'ConversationStateUpdateEvent'
      ? event.key === 'execution_status'
      : event.source === 'agent',
  );
}

function appendMessage(
  conversation: Conversation,
  message: MessageRequest,
  messageId: string | null,
): ConversationEvent {
  const skills = calledFor(conversation, message);
  return conversation.append(
    messageDraft({
      source: 'user',
      llm_message: { role: 'user', content: message.content, thinking_blocks: [] },
      activated_skills: skills.map(({ name }) => name),
      extended_content: skills.map(({ name, content }) =>
        textContent(`<skill name="${name}">\n${content}\n</skill>`),
      ),
      sender: message.sender ?? null,
    }),
    // On the disk before success is answered: the caller will not send it again.
    { durable: true, ...(messageId === null ? {} : { id: messageId }) },
  );
}

/** Skills of which the message holds a word, each once in a conversation. */
function calledFor({ meta, log }: Conversation, message: MessageRequest): Skill[] {
  if (meta.skills.length === 0) return [];
  const shown = log.all().flatMap((event) => (event.kind === 'MessageEvent' ? event.activated_skills : []));
  return skillsFor(plainText(message.content), meta.skills, new Set(shown));
}

/** Answers held actions: accepting runs them, rejecting leaves the agent idle. Without any, nothing happens. */
export function answerConfirmation(
  { conversation, run }: Entry,
  answer: { readonly accept: boolean; readonly reason: string },
): void {
  if (conversation.status !== 'waiting_for_confirmation') return;
  if (answer.accept) {
    run.start('approval');
    return;
  }
  const held = run.heldActionIds;
  for (const action of pendingActions(conversation.log.all())) {
    if (held === null || held.includes(action.id))
      rejectAction(conversation, action, { reason: answer.reason, by: 'user' });
  }
  conversation.setStatus('idle');
  run.refuse(answer.reason);
}

export function setConfirmationPolicy({ conversation }: Entry, policy: ConfirmationPolicy): void {
  conversation.setMeta({ confirmation_policy: policy });
  conversation.announceMeta('confirmation_policy');
}

/** Whether the model's own word on risks is taken; null means that every risk is unknown. */
export function setSecurityAnalyzer(
  { conversation }: Entry,
  analyzer: ConversationMeta['security_analyzer'],
): void {
  conversation.setMeta({ security_analyzer: analyzer });
  conversation.announceMeta('security_analyzer');
}

/** Replaces the model; the run at work takes it for its next step. */
export function switchLlm({ conversation }: Entry, llm: LlmRequest, vault: SecretVault): void {
  conversation.setMeta({ llm: storedLlm(llm) });
  const { api_key: apiKey, base_url: baseUrl, extra_headers: extraHeaders } = llm;
  conversation.arm({ apiKey: null, extraHeaders: {} });
  armLlm(conversation, { apiKey, baseUrl, extraHeaders }, vault);
}

/** Replaces title and tags where given. */
export function patchConversation(
  { conversation }: Entry,
  patch: {
    readonly title?: string | null | undefined;
    readonly tags?: Record<string, string> | null | undefined;
  },
): void {
  if (typeof patch.title === 'string') {
    conversation.setMeta({ title: patch.title });
    conversation.announceMeta('title');
  }
  if (patch.tags !== undefined && patch.tags !== null) {
    conversation.setMeta({ tags: patch.tags });
    conversation.announceMeta('tags');
  }
}

interface LlmAccess {
  readonly apiKey: string | null;
  readonly baseUrl: string | null;
  readonly extraHeaders: LlmRequest['extra_headers'] | null;
}

/**
 * Gives a conversation its model access again, after a restart or with a new key. What is null stays as it is, but for
 * an address that is another one: it never gets a key that was given for the one before (D31).
 */
export function armLlm(conversation: Conversation, access: LlmAccess, vault: SecretVault): void {
  const isElsewhere = access.baseUrl !== null && access.baseUrl !== conversation.meta.llm.base_url;
  const kept = isElsewhere ? { apiKey: null, extraHeaders: {} } : conversation.arming;
  const extraHeaders = access.extraHeaders ?? kept.extraHeaders;
  if (access.apiKey !== null) vault.mask(conversation.id, access.apiKey);
  for (const [name, value] of Object.entries(extraHeaders)) {
    if (isCredentialHeader(name)) vault.mask(conversation.id, value);
  }
  conversation.arm({ apiKey: access.apiKey ?? kept.apiKey, extraHeaders });
  const { llm } = conversation.meta;
  const plain = Object.entries(extraHeaders).filter(([name]) => !isCredentialHeader(name));
  const changed = {
    ...llm,
    base_url: access.baseUrl ?? llm.base_url,
    extra_headers: access.extraHeaders === null ? llm.extra_headers : Object.fromEntries(plain),
    needs_api_key: llm.needs_api_key || access.apiKey !== null,
  };
  if (JSON.stringify(changed) !== JSON.stringify(llm)) conversation.setMeta({ llm: changed });
}
