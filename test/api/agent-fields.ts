/**
 * Where each field of the Agent Server's start request takes effect.
 * Owns the table only.
 */
import { of, type Reader } from './wired-fields.ts';

const META = 'agent/conversation/conversation-meta.ts';
const MODEL_CALL = 'agent/model/model-call.ts';
const HOOKS = 'agent/hooks/run-hooks.ts';

/** Of `POST /api/conversations` of the Agent Server; hooks are one row for every event. */
export const AGENT_FIELDS: Readonly<Record<string, Reader>> = {
  ...of(MODEL_CALL, {
    'agent.llm.model': 'llm.model.replace',
    'agent.llm.base_url': 'baseUrl: llm.base_url',
    'agent.llm.api_key': 'arming.apiKey',
    'agent.llm.extra_headers': 'meta.llm.extra_headers',
    'agent.llm.session_header': 'meta.llm.session_header',
    'agent.llm.retry_window_s': 'llm.retry_window_s',
    'agent.llm.timeout': 'llm.timeout',
    'agent.llm.temperature': 'temperature: llm.temperature',
    'agent.llm.top_p': 'top_p: llm.top_p',
    'agent.llm.max_output_tokens': 'max_tokens: llm.max_output_tokens',
    user_id: 'user: conversation.meta.user_id',
    'agent.llm.usage_id': 'usage_id: usageId',
    'agent.llm.max_input_tokens': 'max_input_tokens: tokensMax',
    'agent.condenser': 'conversation.meta.summarize',
  }),
  ...of('agent/conversation/event-sockets.ts', {
    'agent.llm.stream': 'if (conversation.meta.llm.stream)',
  }),
  ...of(META, {
    agent: '{ agent } = request',
    'agent.llm': 'storedLlm(agent.llm)',
    'agent.tools': 'agent.tools.map',
    'agent.tools.name': '(tool) => tool.name',
    'agent.system_prompt': 'agent.system_prompt ??',
    'agent.condenser.kind': 'agent.condenser?.kind',
    'agent.kind': "agent.kind === 'ACPAgent'",
    'agent.acp_command': '...(agent.acp_command ?? [])',
    'agent.acp_args': '...(agent.acp_args ?? [])',
    'agent.acp_env': 'environment: agent.acp_env',
    'agent.acp_session_mode': 'mode: agent.acp_session_mode',
    'agent.acp_server': 'name: agent.acp_server',
    'agent.acp_version': 'version: agent.acp_version',
    'agent.agent_context': 'agent.agent_context?.',
    'agent.agent_context.system_message_suffix': 'agent_context?.system_message_suffix',
    confirmation_policy: 'request.confirmation_policy ??',
    security_analyzer: 'request.security_analyzer === null',
    max_iterations: 'request.max_iterations',
    stuck_detection: 'request.stuck_detection',
    stuck_detection_thresholds: 'request.stuck_detection_thresholds',
    tags: 'request.tags',
    title: 'request.title',
    parent_conversation_id: 'request.parent_conversation_id',
  }),
  ...of('agent/plugins/merge-plugins.ts', {
    'agent.mcp_config': 'request.agent.mcp_config',
    'agent.agent_context.skills': 'request.agent.agent_context?.skills',
    plugins: 'request.plugins ?? []',
    hook_config: 'request.hook_config',
  }),
  ...of('agent/skills.ts', {
    'agent.agent_context.skills.name': 'name, content, trigger',
    'agent.agent_context.skills.content': 'name, content, trigger',
    'agent.agent_context.skills.description': 'description ?? name',
    'agent.agent_context.skills.source': 'source: source ?? null',
    'agent.agent_context.skills.is_agentskills_format': 'is_agentskills_format: isOffered',
    'agent.agent_context.skills.trigger': 'trigger?.',
    'agent.agent_context.skills.trigger.keywords': 'trigger?.keywords',
    'agent.agent_context.skills.trigger.triggers': 'trigger?.triggers',
  }),
  ...of('agent/routes/conversations.ts', {
    'agent.agent_context.secrets': 'body.agent.agent_context?.secrets',
    conversation_id: 'body.conversation_id ?? world.uuid()',
    initial_message: 'initial_message: first',
    'initial_message.run': 'first.run !== false',
    secrets: '...body.secrets',
    secrets_complete: 'body.secrets_complete',
    load_project: 'load_project: wanted',
    workspace: 'workspace } = body',
  }),
  ...of('agent/conversation/conversation-registry.ts', {
    'workspace.working_dir': 'request.workspace.working_dir',
  }),
  ...of('agent/loop/confirmation.ts', {
    'confirmation_policy.threshold': 'policy.threshold',
    'confirmation_policy.confirm_unknown': 'policy.confirm_unknown',
  }),
  ...of('agent/conversation/conversation-commands.ts', {
    'initial_message.content': 'content: message.content',
    'initial_message.sender': 'sender: message.sender',
  }),
  ...of('agent/model/prompt.ts', {
    'initial_message.content.text': 'text: part.text',
    'initial_message.content.image_urls': 'part.image_urls',
  }),
  'initial_message.content.cache_prompt': {
    ...{ file: 'agent/serve/wire-schema.ts', text: 'cache_prompt }' },
    note: 'kept in the event; the protocol of the model has no word for it',
  },
  ...of('agent/loop/stuck-detection.ts', {
    'stuck_detection_thresholds.action_observation': 'thresholds.action_observation',
    'stuck_detection_thresholds.action_error': 'thresholds.action_error',
    'stuck_detection_thresholds.monologue': 'thresholds.monologue',
    'stuck_detection_thresholds.alternating_pattern': 'thresholds.alternating_pattern',
  }),
  ...of('agent/plugins/plugin-source.ts', {
    'plugins.source': '{ source, ref',
    'plugins.ref': "['--branch', ref]",
    'plugins.repo_path': 'repo_path: inside',
  }),
  ...of('agent/hooks/hook-config.ts', {
    'hook_config.EVENT.matcher': 'matches(matcher, toolName)',
    'hook_config.EVENT.hooks': 'flatMap(({ hooks })',
    'hook_config.EVENT.hooks.type': "type === 'command'",
  }),
  ...of(HOOKS, {
    'hook_config.EVENT.hooks.command': 'hook.command',
    'hook_config.EVENT.hooks.timeout': 'hook.timeout * 1000',
    'hook_config.EVENT.hooks.async': 'if (hook.async)',
  }),
  ...of('agent/loop/loop.ts', {
    'hook_config.user_prompt_submit': "event: 'user_prompt_submit'",
    'hook_config.session_start': "event: 'session_start'",
    'hook_config.stop': "event: 'stop'",
  }),
  ...of('agent/loop/action-step.ts', {
    'hook_config.pre_tool_use': "event: 'pre_tool_use'",
    'hook_config.post_tool_use': "event: 'post_tool_use'",
  }),
  ...of('agent/loop/agent-run.ts', { 'hook_config.session_end': "event: 'session_end'" }),
};
