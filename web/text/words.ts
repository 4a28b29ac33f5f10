/**
 * Words of the wire as labels, and what tone each has.
 * Owns the spelling that a person sees; a word that is not known stays as it came.
 */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'calm';

/** `WAITING_FOR_CONFIRMATION` → "Waiting for confirmation" */
export function labelOf(word: string): string {
  const text = word.toLowerCase().replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** In the order of a life, as the API spells them. */
export const SANDBOX_WORDS = ['STARTING', 'RUNNING', 'PAUSED', 'ERROR', 'MISSING'] as const;
/** Of those that are not gone. */
export const LIVING_WORDS = ['STARTING', 'RUNNING', 'PAUSED', 'ERROR'] as const;
export const EXECUTION_WORDS = [
  'IDLE',
  'RUNNING',
  'PAUSED',
  'WAITING_FOR_CONFIRMATION',
  'FINISHED',
  'ERROR',
  'STUCK',
] as const;

const TONES: Readonly<Record<string, Tone>> = {
  running: 'busy',
  working: 'busy',
  starting: 'busy',
  verifying: 'busy',
  collecting: 'busy',
  ready: 'good',
  finished: 'good',
  succeeded: 'good',
  paused: 'wait',
  draining: 'wait',
  waiting_for_confirmation: 'wait',
  waiting: 'calm',
  idle: 'calm',
  missing: 'calm',
  cancelled: 'calm',
  cancelling: 'wait',
  error: 'bad',
  stuck: 'bad',
  failed: 'bad',
  failed_verification: 'bad',
  check_failed: 'bad',
  limit_reached: 'wait',
  warning: 'wait',
  open: 'calm',
};

export function toneOf(word: string): Tone {
  return TONES[word.toLowerCase()] ?? 'calm';
}

/** A label of the specification for each strategy (spec "Placement"). */
export const GROUPING_LABELS = {
  NO_GROUPING: 'No grouping',
  GROUP_BY_NEWEST: 'Group by newest',
  LEAST_RECENTLY_USED: 'Least recently used',
  FEWEST_CONVERSATIONS: 'Fewest conversations',
  ADD_TO_ANY: 'Add to any',
} as const;

export const GROUPING_HINTS = {
  NO_GROUPING: 'A new sandbox for each conversation.',
  GROUP_BY_NEWEST: 'The newest available sandbox.',
  LEAST_RECENTLY_USED: 'The least recently used available sandbox.',
  FEWEST_CONVERSATIONS: 'The available sandbox with the fewest conversations.',
  ADD_TO_ANY: 'The first available sandbox.',
} as const satisfies Readonly<Record<keyof typeof GROUPING_LABELS, string>>;

/** Providers of the proxy's setting `llm_provider`. */
export const PROVIDER_LABELS: Readonly<Record<string, string>> = {
  custom: 'Custom LLM',
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  bedrock: 'Bedrock',
  azure: 'Azure',
  vertex: 'Vertex',
};
