/**
 * Which fields of events and stored requests are masked. Owns that list: text of users, models and tools is masked,
 * the words the program itself goes by are not, or a secret with the value "agent" would break the log.
 */
import type { ConversationMeta } from './conversation-meta.ts';
import type { ConversationEvent, EventDraft } from './event.ts';
import type { Redactor } from '../redaction.ts';

/** Fields that hold our own words and ids. */
const KEPT: ReadonlySet<string> = new Set([
  'action_id',
  'hook_event_type',
  'id',
  'message_id',
  'kind',
  'llm_response_id',
  'origin',
  'parent_id',
  'role',
  'security_risk',
  'source',
  'timestamp',
  'tool_call_id',
  'tool_name',
  'type',
]);

/** State keys whose value a user wrote. */
const USER_STATE: ReadonlySet<string> = new Set(['title', 'tags']);

export function maskEvent<E extends ConversationEvent | EventDraft>(event: E, redactor: Redactor): E {
  if (event.kind === 'ConversationStateUpdateEvent' && !USER_STATE.has(event.key)) return event;
  return redactor.deep(event, KEPT);
}

export function maskMeta(meta: ConversationMeta, redactor: Redactor): ConversationMeta {
  return {
    ...meta,
    title: redactor.deep(meta.title),
    tags: redactor.deep(meta.tags),
    system_prompt: redactor.deep(meta.system_prompt),
    system_suffix: redactor.deep(meta.system_suffix),
    skills: redactor.deep(meta.skills),
    hook_config: redactor.deep(meta.hook_config),
    mcp_servers: redactor.deep(meta.mcp_servers),
    acp: meta.acp === null ? null : { ...meta.acp, environment: redactor.deep(meta.acp.environment) },
    llm: { ...meta.llm, extra_headers: redactor.deep(meta.llm.extra_headers) },
  };
}
