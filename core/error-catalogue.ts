/**
 * Every error code that crosses a folder border: one literal, grouped by area (D4).
 * `status` is the HTTP status by how the caller should react; `retry` says whether the same call may succeed later.
 * Each code is documented in docs/errors.md and reached by a test (test/repo checks both).
 */

/** What the catalogue says of one code. */
export interface ErrorEntry {
  readonly status: number;
  readonly retry: boolean;
  /** One sentence: when it happens. */
  readonly when: string;
}

/**
 * Every error code with its HTTP status and whether the same request may be tried again; docs/errors.md says what to
 * do.
 */
export const ERROR_CATALOGUE = {
  // Requests
  invalid_request: {
    status: 422,
    retry: false,
    when: 'A field of the request is missing, unknown or malformed.',
  },
  unauthorized: { status: 401, retry: false, when: 'The key is missing, unknown or expired.' },
  forbidden: { status: 403, retry: false, when: 'The key is valid but its scope does not allow the call.' },
  not_found: { status: 404, retry: false, when: 'The record does not exist, or belongs to somebody else.' },
  headers_too_large: {
    status: 431,
    retry: false,
    when: 'Address and headers of the request are longer than the bound.',
  },
  request_timeout: { status: 408, retry: true, when: 'The request came too slowly.' },
  // Sandboxes and conversations
  sandbox_starting: {
    status: 409,
    retry: true,
    when: 'The sandbox is still starting; messages can be queued as pending.',
  },
  sandbox_error: {
    status: 409,
    retry: false,
    when: 'The sandbox is in ERROR: the conversation is read-only.',
  },
  sandbox_missing: {
    status: 410,
    retry: false,
    when: 'The sandbox is MISSING: the conversation is read-only.',
  },
  sandbox_resuming: {
    status: 503,
    retry: true,
    when: 'The workspace is being brought back and was not ready in time.',
  },
  resume_failed: {
    status: 409,
    retry: false,
    when: 'The sandbox could not be resumed within its bound of tries.',
  },
  concurrency_limit_reached: {
    status: 429,
    retry: true,
    when: 'No sandbox slot is free; nothing was accepted.',
  },
  pool_full: {
    status: 429,
    retry: true,
    when: 'Every sandbox in the pool of the run has as many conversations as it may have.',
  },
  idempotency_conflict: {
    status: 409,
    retry: false,
    when: 'The idempotency key, or the id of the conversation, was used for another request.',
  },
  name_taken: { status: 409, retry: false, when: 'There is a record of that name already.' },
  count_limit_reached: {
    status: 409,
    retry: false,
    when: 'The user has as many records of this kind as are allowed.',
  },
  transcript_full: {
    status: 413,
    retry: false,
    when: 'The transcript of the conversation has reached its bound; further events are dropped.',
  },
  queue_full: { status: 429, retry: true, when: 'Too many messages are waiting in the conversation.' },
  conversation_deleted: {
    status: 404,
    retry: false,
    when: 'The conversation was deleted; a late event does not bring it back.',
  },
  host_lost: {
    status: 410,
    retry: false,
    when: 'The lease of this host is over: another process has it, or the other workers have given it up. Of a sandbox: its host was given up.',
  },
  workflow_lost: {
    status: 410,
    retry: false,
    when: 'Somebody ended the workflow of the record from outside, or the engine does not have it; nothing was accepted.',
  },
  placement_failed: {
    status: 409,
    retry: false,
    when: 'No sandbox accepted the conversation within the bound of tries.',
  },
  secret_in_message: {
    status: 422,
    retry: false,
    when: 'The initial message contains the value of a secret.',
  },
  secret_unknown: {
    status: 422,
    retry: false,
    when: 'A secret is referred to that the job, the store or the environment does not hold.',
  },
  secret_reserved: { status: 422, retry: false, when: 'The name of a secret is reserved or not permitted.' },
  // Runtimes
  runtime_unreachable: {
    status: 503,
    retry: true,
    when: 'The runtime could not be asked; nothing is known about the sandbox.',
  },
  runtime_failed: { status: 502, retry: false, when: 'The runtime refused or failed for good.' },
  runtime_gone: { status: 410, retry: false, when: 'The runtime says there is no such sandbox.' },
  stale_generation: {
    status: 409,
    retry: false,
    when: 'The call carries the generation of an earlier incarnation (D14).',
  },
  workspace_unreadable: { status: 502, retry: true, when: 'The workspace could not be read for an archive.' },
  // Agent Server
  agent_unreachable: { status: 502, retry: true, when: 'The Agent Server did not answer.' },
  agent_refused: {
    status: 502,
    retry: false,
    when: 'The Agent Server answered with an error that a repeat will not change.',
  },
  repository_failed: {
    status: 502,
    retry: false,
    when: 'The repository could not be cloned or its branch does not exist.',
  },
  setup_failed: { status: 502, retry: false, when: 'A setup step of the repository failed.' },
  // Store
  store_conflict: { status: 409, retry: true, when: 'A newer write won; the transaction was not applied.' },
  part_missing: {
    status: 501,
    retry: false,
    when: 'An engine or a runtime needs a package that is not installed beside Parley.',
  },
  store_damaged: {
    status: 500,
    retry: false,
    when: 'The file of the database holds what is no database.',
  },
  store_unavailable: { status: 503, retry: true, when: 'The store did not answer.' },
  seal_broken: { status: 500, retry: false, when: 'A sealed value does not open with the configured key.' },
  data_directory_locked: { status: 409, retry: true, when: 'Another engine owns the data directory.' },
  // Runs
  plan_invalid: {
    status: 422,
    retry: false,
    when: 'The plan does not have the expected format, or its hash does not match.',
  },
  expression_failed: {
    status: 422,
    retry: false,
    when: 'An expression of a scenario cannot be evaluated for the values it was given.',
  },
  run_exists: { status: 409, retry: false, when: 'A run of that id exists with another plan.' },
  collect_failed: { status: 502, retry: true, when: 'A result could not be collected.' },
  notify_failed: { status: 502, retry: true, when: 'A receiver could not be told of a run just now.' },
  notify_refused: {
    status: 422,
    retry: false,
    when: 'A receiver does not take messages about runs, or its address is not one.',
  },
  code_host_failed: {
    status: 502,
    retry: true,
    when: 'A code host does not answer, limits calls for longer than is waited, or speaks other words than its kind.',
  },
  code_host_refused: {
    status: 409,
    retry: false,
    when: 'A code host does not let its issues be read, or a pull request be opened.',
  },
  deliver_failed: { status: 502, retry: true, when: 'A branch could not be pushed to its code host.' },
  deliver_refused: {
    status: 409,
    retry: false,
    when: 'A branch may not be pushed: its name is taken by commits of somebody else, or the host refuses it.',
  },
  export_invalid: { status: 422, retry: false, when: "The gateway's export has a row that cannot be read." },
  export_unavailable: { status: 502, retry: true, when: "The gateway's export could not be fetched." },
  // Proxy
  gateway_unreachable: { status: 502, retry: true, when: 'The external gateway cannot be reached.' },
  gateway_host_unknown: {
    status: 502,
    retry: false,
    when: 'The address of the external gateway names a host that does not exist.',
  },
  gateway_failed: {
    status: 502,
    retry: true,
    when: 'The external gateway broke off, or answered with what is no answer.',
  },
  gateway_timeout: { status: 504, retry: true, when: 'The external gateway did not answer in time.' },
  header_not_sendable: {
    status: 400,
    retry: false,
    when: 'A header to be forwarded has a value that cannot be sent (D23).',
  },
  request_too_large: { status: 413, retry: false, when: 'The body of the request is larger than the bound.' },
  rate_limited: {
    status: 429,
    retry: true,
    when: 'The virtual key has used up its requests, tokens or calls at one time.',
  },
  run_budget_exceeded: {
    status: 402,
    retry: false,
    when: 'The run of the conversation has spent what its enforced budget allows.',
  },
  budget_held: {
    status: 429,
    retry: true,
    when: 'What is left of a budget is held by calls in flight, and the call has waited for it in vain.',
  },
  budget_exceeded: { status: 429, retry: true, when: 'The budget of the virtual key is used up.' },
  method_not_allowed: { status: 405, retry: false, when: 'The path exists, but not for this method.' },
  // Durable engine
  engine_unreachable: {
    status: 503,
    retry: true,
    when: 'The Temporal server does not answer, or did not start.',
  },
  engine_misconfigured: {
    status: 422,
    retry: false,
    when: 'The Temporal server, or what starts one, is not set up as Parley needs it.',
  },
  // Configuration
  config_invalid: {
    status: 422,
    retry: false,
    when: 'The deployment configuration has an unknown or malformed key.',
  },
  codec_key_missing: {
    status: 422,
    retry: false,
    when: 'A payload is encrypted with a key that is not configured.',
  },
  payload_unreadable: {
    status: 422,
    retry: false,
    when: 'A compressed payload does not open, or opens to more than the bound.',
  },
  model_not_found: { status: 404, retry: false, when: 'The proxy lists no such model.' },
  // The machine
  path_unusable: {
    status: 500,
    retry: false,
    when: 'A file or folder is missing, is of another kind, or may not be read or written.',
  },
  disk_full: { status: 507, retry: true, when: 'A file could not be written: no room is left on its disk.' },
  disk_failed: { status: 500, retry: true, when: 'A file could not be read or written: its device failed.' },
  out_of_resources: {
    status: 503,
    retry: true,
    when: 'The system gives this process no more open files, processes or memory.',
  },
  port_unavailable: {
    status: 409,
    retry: false,
    when: 'A port cannot be listened on: it is in use, not of this machine, or needs more rights.',
  },
  // Anything else
  internal: { status: 500, retry: false, when: 'A bug: the error is reported with its cause.' },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;
