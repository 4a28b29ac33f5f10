/**
 * The words of the job language for the shared passes.
 * Owns synonyms, remedies and refused keys of a job; the keys themselves are the schema's.
 */
import { isDeploymentLimit } from './check/deployment-limit.ts';
import type { Language } from './language.ts';
import { quote } from './read/quote.ts';
import { jobSchema } from './schema/job-schema.ts';

/** Words of other tools for things that a job calls otherwise. */
const SYNONYMS: Readonly<Record<string, string>> = {
  timeout: 'working time is "limits.working" of a conversation, wall time is "wait.deadline"',
  parallel: 'conversations in flight are "admission.concurrency"',
  parallelism: 'conversations in flight are "admission.concurrency"',
  max_parallel: 'conversations in flight are "admission.concurrency"',
  repository: 'write "repo"',
  params: 'write "inputs"',
  parameters: 'write "inputs"',
  variables: 'write "inputs"',
  include_if: 'write "where" under "items"',
  env: 'environment variables of the agent are "secrets" of a conversation',
  tasks: 'write "conversations"',
  jobs: 'write "conversations"',
  steps: 'write "conversations"',
  if: 'what runs after another conversation says so under "needs": [{entry: ID, outcome: failed}], or succeeded, or ended',
  depends_on: 'write "needs"',
  task: 'write "prompt"',
  instructions: 'write "prompt"',
  message: 'write "prompt"',
  retries: 'write "retry", a list of rules',
  on_failure: 'retries are "retry", clean-up is "cleanup"',
  max_cost: 'write "limits.usd" for one conversation, "budget.usd" for the run',
  artifacts: 'write "collect"',
  outputs: 'write "collect"',
};

const MISSING_REMEDY: Readonly<Record<string, string>> = {
  kind: 'the file starts with "kind: job"',
  version: 'write "version: 1"',
  name: 'give the job a name, such as "name: upgrade-lib"',
  conversations: 'list at least one conversation with an id and a prompt',
  id: 'give the conversation an id that is unique in the job',
  prompt: 'write what the agent is asked to do, or {file: path}',
  type: 'write "string", "int", "number", "boolean" or "enum"',
  set: 'write the fields of these conversations under "set"',
  email: 'write the address that commits show',
  usd: 'write an amount of USD, such as "usd: 2.50"',
  from: 'write "from: env", "from: file" or "from: store"',
};

const MISSING_IN_SECRET: Readonly<Record<string, string>> = {
  from: 'write "from: env", "from: file" or "from: store"',
  name: 'write the name of the environment variable, or of the entry in the store',
  path: 'write the path of the file that holds the value',
};

/** The language of job files. */
export const JOB_LANGUAGE: Language = {
  document: 'job',
  schema: jobSchema,
  start: 'a job starts with "kind: job", "version: 1", a name and a list of conversations',
  head: 'start with "kind: job", "version: 1" and a name',
  instead: 'put shared settings under "defaults", or name an anchored value with an alias under its own key',
  entries: {
    'conversations[]': {
      where: 'in a conversation',
      belongs: 'in a conversation, or under "defaults"',
      of: ' of a conversation',
    },
  },
  records: ['secrets', 'inputs'],
  synonyms: SYNONYMS,
  eitherForms: {
    prompt: 'text, or {file: path}',
    repo: 'owner/name, or a map of keys',
    setup: 'a command, or a map of keys',
    verify: 'a command, or a map of keys',
    plugins: 'a repository, or a map of keys',
    agent: 'a name, or a map of keys',
    items: 'a list of rows, or a map of keys',
    placement: 'a strategy, or a map of keys',
  },
  missingRemedy: (name, at) => (at[0] === 'secrets' ? MISSING_IN_SECRET[name] : MISSING_REMEDY[name]) ?? null,
  refusedKey: (key) => (isDeploymentLimit(key) ? jobLimitRefused(key) : null),
};

/** D10: also said of the overrides of a scenario, which follow the schema of the job. */
export function jobLimitRefused(key: string): ReturnType<Language['refusedKey']> {
  return {
    code: 'JOB210',
    message: `${quote(key)} cannot be set by a job`,
    remedy:
      'idle time and deletion time belong to the deployment, a session always ends after 12 hours (D10); to end work earlier use "limits.working" or "wait.deadline"',
  };
}
