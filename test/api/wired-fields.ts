/**
 * Where each field that a client may send takes effect: the file that reads it, and the words that do.
 * Owns the table only; the test beside it compares it with the schemas and with the files.
 */

export interface Reader {
  readonly file: string;
  readonly text: string;
  /** What its effect is where that is less than one might think. */
  readonly note?: string;
}

/** One file for several fields, each with the words that read it. */
export function of(file: string, fields: Readonly<Record<string, string>>): Record<string, Reader> {
  return Object.fromEntries(Object.entries(fields).map(([field, text]) => [field, { file, text }]));
}

const START = 'api/conversations/start.ts';
const PAGE = of('api/application/cursor.ts', { page_id: 'page_id', limit: 'limit' });

/** Of a list that is in memory. */
const LIST_PAGE = of('api/application/cursor.ts', { page_id: 'Number(pageId)', limit: 'from + limit' });

const START_FIELDS: Readonly<Record<string, Reader>> = {
  ...of(START, {
    initial_message: 'request.initial_message ?? null',
    'initial_message.content': 'textOf(message.content)',
    'initial_message.run': 'run: message.run',
    conversation_id: 'request.conversation_id ?? application.randomHex',
    sandbox_id: 'request.sandbox_id ?? null',
    host: 'host: name ?? undefined',
    host_labels: 'labels: labels ?? undefined',
    selected_repository: 'repository: request.selected_repository',
    selected_branch: 'branch: request.selected_branch',
    git_provider: 'codeHost: request.git_provider',
    title: 'request.title ??',
    llm_model: 'model: request.llm_model',
    secrets: 'request.secrets ?? {}',
    tags: 'tags: request.tags',
    plugins: 'plugins: launchPlugins(request)',
  }),
  ...of('api/conversations/start-request.ts', {
    'initial_message.content.text': 'content.map(({ text }) => text)',
    'plugins.source': "source.split(':')",
    'plugins.ref': 'ref: ref ?? null',
    'plugins.repo_path': 'repo_path: path',
  }),
  ...of('core/observability.ts', {
    observability_span_name: 'observability_span_name',
    observability_tags: 'observability_tags',
    observability_metadata: 'observability_metadata',
  }),
};

const PLAYED = of('api/jobs/simulation-routes.ts', {
  text: 'return { text,',
  inputs: 'inputs, models',
  seed: 'models, seed',
});

const CONVERSATION_FILTER = of('api/conversations/read-routes.ts', {
  title__contains: 'query.title__contains',
  created_at__gte: 'query.created_at__gte',
  created_at__lt: 'query.created_at__lt',
  updated_at__gte: 'query.updated_at__gte',
  updated_at__lt: 'query.updated_at__lt',
  sandbox_id__eq: 'sandbox_id__eq: sandbox',
  sandbox_status__eq: 'query.sandbox_status__eq',
  execution_status__eq: 'query.execution_status__eq',
  tag: 'query.tag ?? []',
});
const SANDBOX_FILTER = of('api/sandboxes/sandbox-routes.ts', {
  status: 'statuses: status',
  id__begins: 'idBegins: hexOf(begins)',
});
const START_FILTER = of('api/conversations/start-routes.ts', {
  conversation_id__eq: 'conversation_id__eq: id',
  created_at__gte: 'created_at__gte: from',
});
const EVENT_FILTER = of('api/events/event-routes.ts', {
  kind__eq: 'kind__eq',
  timestamp__gte: 'timestamp__gte',
  timestamp__lt: 'timestamp__lt',
});
const MESSAGE = {
  ...of('api/conversations/message-routes.ts', { content: 'textOf(body.content)' }),
  'content.text': { file: 'api/conversations/start-request.ts', text: 'content.map(({ text }) => text)' },
};
const WORKSPACE = 'api/conversations/workspace-routes.ts';
const KEPT = 'kept and shown; agents reach a model through the proxy alone (D19)';

/** By operation, `body` or `query`, and path of the field. */
export const API_FIELDS: Readonly<Record<string, Readonly<Record<string, Reader>>>> = {
  'start_app_conversation body': START_FIELDS,
  'stream_start_app_conversation body': START_FIELDS,
  'get_start_tasks query': of('api/conversations/start-routes.ts', { ids: 'query.ids.map(hexOf)' }),
  'search_start_tasks query': {
    ...START_FILTER,
    ...PAGE,
    ...of('api/conversations/start-routes.ts', { sort_order: "query.sort_order.endsWith('_DESC')" }),
  },
  'count_start_tasks query': START_FILTER,
  'get_app_conversations query': of('api/conversations/read-routes.ts', { ids: 'query.ids.map' }),
  'search_app_conversations query': {
    ...CONVERSATION_FILTER,
    ...PAGE,
    ...of('api/conversations/read-routes.ts', { sort_order: 'orderOf(query.sort_order)' }),
  },
  'count_app_conversations query': CONVERSATION_FILTER,
  'send_message body': { ...MESSAGE, ...of('api/conversations/message-routes.ts', { run: 'run: body.run' }) },
  'queue_pending_message body': MESSAGE,
  'answer_confirmation body': of('api/conversations/message-routes.ts', {
    accept: 'accept: body.accept',
    reason: 'reason: body.reason',
  }),
  'update_app_conversation body': of('api/conversations/change-routes.ts', {
    title: '{ title = null',
    tags: 'tags = null } = body',
  }),
  'read_workspace_file query': of(WORKSPACE, { file_path: 'query.file_path' }),
  'download_workspace_file query': of(WORKSPACE, { file_path: 'query.file_path' }),
  'search_conversation_calls query': of('api/conversations/usage-routes.ts', {
    started_at__gte: 'started_at__gte: from',
    page_id: 'page_id: pageId',
    limit: 'limit: limit + 1',
  }),
  'list_workspace_files query': of(WORKSPACE, { path: "query.path ?? '.'" }),
  'list_git_changes query': of(WORKSPACE, { path: "query.path ?? '.'", ref: 'query.ref' }),
  'read_git_diff query': of(WORKSPACE, {
    path: "workspacePath(workspace, query.path, 'path')",
    ref: 'query.ref',
  }),
  'search_events query': {
    ...EVENT_FILTER,
    ...of('api/events/event-routes.ts', {
      sort_order: "query.sort_order === 'TIMESTAMP_DESC'",
      page_id: 'sequenceOf(query.page_id)',
      limit: 'query.limit + 1',
    }),
  },
  'count_events query': EVENT_FILTER,
  'get_events query': of('api/events/event-routes.ts', { id: 'query.id' }),
  'create_sandbox query': of('api/sandboxes/sandbox-routes.ts', {
    sandbox_spec_id: 'query.sandbox_spec_id ??',
  }),
  'search_sandboxes query': {
    ...PAGE,
    ...SANDBOX_FILTER,
    ...of('api/sandboxes/sandbox-routes.ts', { sort_order: "query.sort_order === 'CREATED_AT_DESC'" }),
  },
  'count_sandboxes query': SANDBOX_FILTER,
  'list_sandbox_conversations query': of('api/sandboxes/sandbox-routes.ts', { id: 'query.id.map' }),
  'get_sandboxes query': of('api/sandboxes/sandbox-routes.ts', { id: 'query.id.map' }),
  'delete_sandbox query': of('api/sandboxes/sandbox-routes.ts', { sandbox_id: 'sandbox_id' }),
  'search_sandbox_specs query': {
    page_id: {
      file: 'api/sandboxes/secret-routes.ts',
      text: 'page_id: pageIdIn',
      note: 'there is one specification, and so one page',
    },
    limit: {
      file: 'api/sandboxes/secret-routes.ts',
      text: 'limit: limitIn',
      note: 'there is one specification',
    },
  },
  'get_sandbox_specs query': { id: { file: 'api/sandboxes/secret-routes.ts', text: 'query.id' } },
  'search_runs query': {
    ...PAGE,
    ...of('api/runs/run-routes.ts', { name: '{ name, state } = query', state: '{ name, state } = query' }),
  },
  'search_run_items query': {
    ...PAGE,
    ...of('api/runs/item-routes.ts', {
      state: 'states: state',
      model: '{ model }',
      repository: '{ repository }',
      tag: 'tag.map(',
      key__contains: 'key__contains: keyContains',
      sort_order: 'sort_order: order',
      descending: 'order, descending }',
    }),
  },
  'get_run_item_evidence query': of('api/runs/item-routes.ts', { item: 'query: { item: key }' }),
  'compile_job body': of('api/jobs/job-routes.ts', { text: 'body.text', inputs: 'body.inputs' }),
  'simulate_job body': PLAYED,
  'draw_job_simulation body': PLAYED,
  'get_job_history query': of('api/jobs/job-routes.ts', { limit: 'query: { limit }' }),
  'compare_run query': of('api/jobs/job-routes.ts', { before: 'query.before' }),
  'get_run_result query': of('api/runs/run-command-routes.ts', { name: 'name: query.name' }),
  'control_run body': {
    ...of('api/runs/run-command-routes.ts', {
      requestId: '...body',
      by: 'body.by ?? caller.keyName',
      keys: '...body',
      classes: '...body',
      settings: '...body',
      'settings.concurrency': '...body',
      'settings.startEveryMs': '...body',
      'settings.budgetNanoUsd': '...body',
    }),
  },
  'update_settings body': {
    ...of('api/settings/settings-routes.ts', {
      sandbox_grouping_strategy: "named('grouping', body.sandbox_grouping_strategy)",
      git_user_name: "named('gitUserName', body.git_user_name)",
      git_user_email: "named('gitUserEmail', body.git_user_email)",
      conversation_settings_diff: 'body.conversation_settings_diff',
      'conversation_settings_diff.max_iterations': 'max_iterations: iterationsMax',
      'conversation_settings_diff.confirmation_mode': 'diff.confirmation_mode ??',
      'conversation_settings_diff.security_analyzer': 'diff.security_analyzer === undefined',
      agent_settings: 'z.never(',
      conversation_settings: 'z.never(',
    }),
    language: {
      ...{ file: 'api/settings/settings-routes.ts', text: "named('language', body.language)" },
      note: 'kept and shown to clients, which speak it',
    },
  },
  'save_profile body': {
    ...of('api/settings/profile-routes.ts', {
      llm: '{ llm } = body',
      'llm.model': 'llm?.model',
      'llm.extra_headers': 'llm?.extra_headers',
      preserve_existing_api_key: 'body.preserve_existing_api_key',
      include_secrets: 'body.include_secrets',
    }),
    'llm.base_url': { file: 'api/settings/profile-routes.ts', text: 'llm?.base_url', note: KEPT },
    'llm.api_key': { file: 'api/settings/profile-routes.ts', text: 'llm.api_key', note: KEPT },
  },
  'rename_profile body': of('api/settings/profile-routes.ts', { new_name: 'new_name' }),
  'search_secrets query': {
    ...of('api/settings/secret-routes.ts', { name__contains: 'query.name__contains' }),
    ...LIST_PAGE,
  },
  'store_secret body': of('api/settings/secret-routes.ts', {
    name: '{ name, value, description }',
    value: '{ name, value, description }',
    description: '{ name, value, description }',
  }),
  'describe_secret body': of('api/settings/secret-routes.ts', { description: 'description' }),
  'issue_key body': of('api/keys/key-routes.ts', {
    name: 'body.name',
    scope: 'body.scope',
    user_id: 'body.user_id',
    not_before: 'body.not_before',
    expires_at: 'body.expires_at',
  }),
  'list_keys query': of('api/keys/key-routes.ts', { user_id: 'query.user_id ?? caller.userId' }),
  'search_audit query': of('api/keys/key-routes.ts', {
    page_id: 'query.page_id',
    limit: 'limit: query.limit',
    user_id: 'userId: query.user_id',
    action: 'action: query.action',
    about__contains: 'aboutContains: query.about__contains',
    at__gte: 'from: parseInstant(query.at__gte)',
    at__lt: 'until: parseInstant(query.at__lt)',
    outcome: 'outcome: query.outcome',
  }),
  'search_proxy_keys query': of('api/keys/proxy-key-routes.ts', {
    name__contains: 'nameContains: part',
    page_id: 'afterName: nameIn(after)',
    limit: 'limit: limit + 1',
  }),
  'update_proxy_key body': of('api/keys/proxy-key-routes.ts', { blocked: 'isBlocked: body.blocked' }),
  'search_waiting query': PAGE,
  'get_spend query': of('api/overview/spend-routes.ts', {
    by: 'overview.spend({ ...question, by })',
    from: 'parseInstant(first)',
    to: 'parseInstant(last)',
  }),
  'deploy_configuration body': of('api/configuration/configuration-routes.ts', {
    text: 'body: { text, revision }',
    revision: 'body: { text, revision }',
  }),
  'update_configuration body': of('api/configuration/configuration-routes.ts', {
    fields: 'body: { fields, revision }',
    'fields.idle_time': 'idle_time',
    'fields.deletion_time': 'deletion_time',
    'fields.forward_client_headers_to_llm_api': 'forward_client_headers_to_llm_api',
    'fields.llm_provider': 'llm_provider',
    'fields.custom_llm_extra_headers': 'custom_llm_extra_headers',
    revision: 'body: { fields, revision }',
  }),
  'search_models query': {
    ...of('api/application/service-routes.ts', { query: 'query.query' }),
    ...LIST_PAGE,
  },
};

/** Fields of answers that are the same in every answer, and why they are there. */
export const CONSTANT_ANSWERS: Readonly<Record<string, string>> = {
  agent_kind: 'clients of the original tell its agents apart by it; there is one kind',
  trigger: 'nothing but the API starts a conversation here',
  pr_number: 'pull requests are not followed',
  parent_conversation_id: 'there are no conversations below others',
  sub_conversation_ids: 'there are no conversations below others',
  public: 'conversations are not shared',
};
