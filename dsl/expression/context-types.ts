/**
 * The names that expressions can use, with their types, by phase; docs/scenario-language.md lists them from here.
 * Owns names and types; the meaning of each stands in observation.ts, and values are filled in by values.ts.
 */
import { EXECUTION_STATUSES, OUTCOMES, PAUSE_REASONS, SANDBOX_STATUSES } from '../../core/status.ts';
import type { ExpressionPhase } from './expression.ts';
import type { RecordType, TypeName } from './expression-scope.ts';

/** Phases of an item, as expectations see them. */
const ITEM_WORDS = ['queued', 'starting', 'working', 'verifying', 'collecting', 'ended'] as const;
const TRANSITION_WORDS = ['pausing', 'resuming', 'archiving', 'deleting'] as const;

const CONVERSATION: RecordType = {
  name: 'Conversation',
  spoken: 'a conversation',
  fields: {
    key: 'string',
    id: 'string',
    phase: 'string',
    status: 'string',
    pause_reason: 'string',
    execution_status: 'string',
    outcome: 'string',
    terminal: 'bool',
    collected: 'bool',
    attempts: 'int',
    cost_usd: 'double',
    repo: 'string',
    model: 'string',
    tags: 'map<string, string>',
    sandbox: 'string',
  },
  words: {
    phase: ITEM_WORDS,
    status: ['', ...SANDBOX_STATUSES],
    pause_reason: ['', ...PAUSE_REASONS],
    execution_status: ['', ...EXECUTION_STATUSES],
    outcome: ['', ...OUTCOMES],
  },
};

const SANDBOX: RecordType = {
  name: 'Sandbox',
  spoken: 'a sandbox',
  fields: {
    id: 'string',
    status: 'string',
    pause_reason: 'string',
    transition: 'string',
    generation: 'int',
    conversations: 'int',
    host: 'string',
    session: 'duration',
    released: 'duration',
  },
  words: {
    status: SANDBOX_STATUSES,
    pause_reason: ['', ...PAUSE_REASONS],
    transition: ['', ...TRANSITION_WORDS],
  },
};

const CAPACITY: RecordType = {
  name: 'Capacity',
  spoken: 'the capacity',
  fields: { in_use: 'int', max: 'int', peak: 'int' },
};

const POOL: RecordType = {
  name: 'Pool',
  spoken: 'the pool',
  fields: { ready: 'int', in_use: 'int', size: 'int' },
};

const BUDGET: RecordType = {
  name: 'Budget',
  spoken: 'the budget',
  fields: { spent_usd: 'double', reserved_usd: 'double', limit_usd: 'double' },
};

const RUN: RecordType = {
  name: 'Run',
  spoken: 'the run',
  fields: {
    phase: 'string',
    mode: 'string',
    reason: 'string',
    waiting: 'int',
    in_flight: 'int',
    ended: 'int',
  },
};

const SUMMARY: RecordType = {
  name: 'Summary',
  spoken: 'the summary',
  fields: {
    makespan: 'duration',
    cost_usd: 'double',
    succeeded: 'int',
    failed: 'int',
    retried: 'int',
    paused_idle: 'int',
    paused_session_limit: 'int',
    paused_user: 'int',
    paused_capacity: 'int',
    resumed: 'int',
    sandboxes: 'int',
    arrived: 'int',
    refused: 'int',
    unmatched_usd: 'double',
  },
};

const ITEM: RecordType = {
  name: 'Item',
  spoken: 'an item',
  fields: {
    key: 'string',
    entry: 'string',
    repo: 'string',
    owner: 'string',
    branch: 'string',
    model: 'string',
    tags: 'map<string, string>',
    priority: 'int',
    matrix: 'map<string, string>',
  },
};

export const RECORD_TYPES: readonly RecordType[] = [
  CONVERSATION,
  SANDBOX,
  CAPACITY,
  POOL,
  BUDGET,
  RUN,
  SUMMARY,
  ITEM,
];

/** Variables by phase. */
export const PHASE_VARIABLES: Readonly<Record<ExpressionPhase, Readonly<Record<string, TypeName>>>> = {
  item: { item: ITEM.name },
  observation: {
    elapsed: 'duration',
    convs: `list<${CONVERSATION.name}>`,
    sandboxes: `list<${SANDBOX.name}>`,
    capacity: CAPACITY.name,
    pool: POOL.name,
    budget: BUDGET.name,
    run: RUN.name,
    summary: SUMMARY.name,
  },
};

/** Finds a conversation by its key; available where `convs` is. */
export const BY_KEY = 'by_key';
export const BY_KEY_SIGNATURE = `${BY_KEY}(string): ${CONVERSATION.name}`;

/** What the language has, whatever else an engine offers; `by_key` beside them in expectations. */
export const FUNCTIONS: readonly string[] = [
  'all',
  'exists',
  'exists_one',
  'filter',
  'map',
  'has',
  'size',
  'contains',
  'startsWith',
  'endsWith',
  'lowerAscii',
  'upperAscii',
  'trim',
  'split',
  'join',
  'duration',
  'getHours',
  'getMinutes',
  'getSeconds',
  'getMilliseconds',
  'string',
  'int',
  'double',
];

/** Functions that can be called in a phase. */
export function functionsOf(phase: ExpressionPhase): readonly string[] {
  return phase === 'observation' ? [...FUNCTIONS, BY_KEY] : FUNCTIONS;
}
