/**
 * A conversation as responses and webhooks present it. Owns the shape; reads only.
 */
import type { AcpAgent } from '../acp/acp-agent.ts';
import type { Conversation } from './conversation.ts';
import { totalMetrics } from '../metrics.ts';
import { wireSkill } from '../skills.ts';

/** The reference's ConversationInfo, plus nothing. Keys and credentials are null or left out. */
export function conversationInfo(
  conversation: Conversation,
  persistenceDir: string,
  shown: { readonly withSkills: boolean },
): Record<string, unknown> {
  const { meta, log } = conversation;
  conversation.noteRoom();
  return {
    id: conversation.id,
    workspace: { working_dir: meta.working_dir, kind: 'LocalWorkspace' },
    persistence_dir: persistenceDir,
    max_iterations: meta.max_iterations,
    stuck_detection: meta.stuck_detection,
    execution_status: conversation.status,
    confirmation_policy: meta.confirmation_policy,
    security_analyzer: meta.security_analyzer === null ? null : { kind: meta.security_analyzer },
    activated_knowledge_skills: log
      .all()
      .flatMap((event) => (event.kind === 'MessageEvent' ? event.activated_skills : [])),
    invoked_skills: [],
    blocked_actions: {},
    blocked_messages: {},
    last_user_message_id: conversation.lastUserMessageId,
    leaf_event_id: log.leafId(),
    stats: conversation.stats,
    secret_registry: { secret_sources: {} },
    agent_state: conversation.agentState,
    hook_config: meta.hook_config,
    title: meta.title,
    metrics: totalMetrics(conversation.stats),
    created_at: meta.created_at,
    updated_at: conversation.updatedAt,
    forked_from_conversation_id: null,
    forked_from_event_id: null,
    parent_conversation_id: meta.parent_conversation_id,
    sub_conversation_ids: [],
    tags: meta.tags,
    current_model_id: meta.llm.model,
    available_models: [],
    supports_runtime_model_switch: false,
    launched_agent_profile: null,
    agent: agentInfo(conversation, shown.withSkills),
    client_tools: [],
  };
}

/** Values of variables may be secrets, so only their names are shown. */
function acpInfo(acp: AcpAgent): Record<string, unknown> {
  const { name, command, environment, mode, told_name: toldName, told_version: toldVersion } = acp;
  return {
    kind: 'ACPAgent',
    acp_server: name,
    acp_command: command,
    acp_env: Object.fromEntries(Object.keys(environment).map((variable) => [variable, null])),
    acp_session_mode: mode,
    acp_agent_name: toldName,
    acp_agent_version: toldVersion,
  };
}

function agentInfo({ meta }: Conversation, withSkills: boolean): Record<string, unknown> {
  const { needs_api_key: _needsApiKey, extra_headers: extraHeaders, ...llm } = meta.llm;
  return {
    ...(meta.acp === null ? { kind: 'Agent' } : acpInfo(meta.acp)),
    llm: { ...llm, api_key: null, extra_headers: extraHeaders },
    tools: meta.tools.map((name) => ({ name, params: {} })),
    include_default_tools: ['FinishTool', 'ThinkTool'],
    agent_context: {
      skills: withSkills ? meta.skills.map(wireSkill) : [],
      system_message_suffix: meta.system_suffix,
    },
  };
}
