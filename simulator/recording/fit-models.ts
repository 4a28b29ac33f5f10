/**
 * A recording as models: what it holds about a key is played exactly, everything else from distributions fitted to it.
 * Owns the fit and the words for what a recording does not hold; must not decide what happens in a play.
 */
import type { Plan } from '../../core/plan/plan.ts';
import type { TokenPrice } from '../../core/money/price.ts';
import { fixed, type Distribution } from '../models/distribution.ts';
import type { AgentBehaviour, ModelOptions } from '../models/model-options.ts';
import { spreadOf } from '../views/spread.ts';
import type { RecordedConversation, RecordedOutcome, Recording } from './recording.ts';
import type { ReplacedAnswers } from './replaced-answers.ts';

/** A bill is recorded and no price list: one input token stands for one nano-USD, so that the bill is met exactly. */
const TOKEN_OF_ONE_NANO_USD: TokenPrice = {
  inputFemtoUsd: 1_000_000n,
  outputFemtoUsd: 0n,
  cachedInputFemtoUsd: 0n,
};
const NEVER = { share: 0 } as const;

/** What the recording does not contain is taken from `base`. */
export function fitModels(recording: Recording, base: ModelOptions): ModelOptions {
  const { conversations, bootsMs, starts } = recording;
  const pricing = pricingOf(conversations);
  const agent = fittedAgent(conversations, { base: base.agent, pricing });
  const boot = fitDistribution(bootsMs);
  const checks = conversations.flatMap(({ checkPassed }) => (checkPassed === null ? [] : [checkPassed]));
  return {
    ...base,
    runtime: {
      ...base.runtime,
      boot: boot ?? base.runtime.boot,
      stop: fitDistribution(releasesOf(recording)) ?? base.runtime.stop,
    },
    // The steps of a start are part of the recorded boot.
    agentCall: boot === null ? base.agentCall : fixed(0),
    ...afterWork(conversations, base),
    agent,
    agentRules: [],
    agentByKey: behavioursOf(conversations, { agent, pricing }),
    failures: starts.failed === 0 ? {} : { prepareRepository: { share: starts.failed / starts.asked } },
    checkFails:
      checks.length === 0 ? base.checkFails : checks.filter((passed) => !passed).length / checks.length,
    prices: pricing === 'bill' ? { default: TOKEN_OF_ONE_NANO_USD } : base.prices,
  };
}

/** What lies between the steps holds a slot as a stop does, and a play has no such time of its own. */
function releasesOf({ stopsMs, handoversMs }: Recording): number[] {
  const whole = stopsMs.flatMap((stopMs, at) => {
    const handoverMs = handoversMs[at] ?? null;
    return handoverMs === null ? [] : [stopMs + handoverMs];
  });
  return whole.length === 0 ? [...stopsMs] : whole.sort((a, b) => a - b);
}

/** The result of a check is played by key, too. */
export function recordedChecks({ conversations }: Recording, { items }: Plan): ReplacedAnswers {
  const results = new Map(conversations.map(({ key, checkPassed }) => [key, checkPassed]));
  return (_command, answer) => {
    if (answer.type !== 'itemVerified') return answer;
    const passed = results.get(items[answer.index]?.key ?? '') ?? null;
    if (passed === null) return answer;
    return { ...answer, passed, detail: passed ? null : 'it failed in the recorded run' };
  };
}

/** Keys of a plan that are played exactly. */
export function exactKeys({ conversations }: Recording, { items }: Plan): ReadonlySet<string> {
  const known = new Set(conversations.filter(isExact).map(({ key }) => key));
  return new Set(items.map(({ key }) => key).filter((key) => known.has(key)));
}

/** One sentence for each thing that the recording cannot give. */
export function notRecorded(recording: Recording): string[] {
  const { conversations, bootsMs, stopsMs } = recording;
  const count = (test: (one: RecordedConversation) => boolean): number => conversations.filter(test).length;
  const said: readonly (readonly [number, string])[] = [
    [bootsMs.length === 0 ? 1 : 0, 'no boot: boot times are those of the default model'],
    [stopsMs.length === 0 ? 1 : 0, 'no stop: stop times are those of the default model'],
    [count((one) => !isExact(one)), 'did not come to rest by itself: played from the fitted distribution'],
    [count(({ costNanoUsd }) => costNanoUsd === null), 'has no cost'],
    [count(({ inputTokens }) => inputTokens === null), 'has no count of tokens'],
    [count(({ attempts }) => attempts > 1), 'had several attempts: the last one is played'],
    [count(({ resumes }) => resumes > 0), 'was released on the way: its pauses count as work'],
  ];
  const sentences = said.flatMap(([times, text]) => {
    if (times === 0) return [];
    return [text.startsWith('no ') ? text : `${times} of ${conversations.length}: ${text}`];
  });
  return [
    ...sentences,
    'rate limits, quiet stretches and confirmations are not stored, and are part of the work',
  ];
}

/** Null without samples; one value, or equal ones, are that value, and others are drawn from as they are. */
export function fitDistribution(samples: readonly number[]): Distribution | null {
  const [first] = samples;
  if (first === undefined) return null;
  return samples.every((value) => value === first) ? fixed(first) : { kind: 'samples', values: samples };
}

type Pricing = 'bill' | 'tokens' | 'none';

function pricingOf(conversations: readonly RecordedConversation[]): Pricing {
  if (conversations.some(({ costNanoUsd }) => costNanoUsd !== null)) return 'bill';
  return conversations.some(({ inputTokens }) => inputTokens !== null) ? 'tokens' : 'none';
}

function fittedAgent(
  conversations: readonly RecordedConversation[],
  { base, pricing }: { readonly base: AgentBehaviour; readonly pricing: Pricing },
): AgentBehaviour {
  const outcomes = countOutcomes(conversations);
  const fit = (field: 'workMs' | 'costNanoUsd' | 'inputTokens' | 'outputTokens'): Distribution | null =>
    fitDistribution(conversations.flatMap((one) => (one[field] === null ? [] : [one[field]])));
  const tokens = fit(pricing === 'bill' ? 'costNanoUsd' : 'inputTokens');
  return {
    work: fit('workMs') ?? base.work,
    outcomes: outcomes ?? base.outcomes,
    rateLimit: { ...NEVER, wait: base.rateLimit.wait },
    confirmation: { ...NEVER, answerAfter: null },
    quiet: { ...NEVER, length: fixed(0), leased: 0 },
    inputTokens: tokens ?? base.inputTokens,
    outputTokens: pricing === 'bill' ? fixed(0) : (fit('outputTokens') ?? base.outputTokens),
  };
}

function countOutcomes(
  conversations: readonly RecordedConversation[],
): Readonly<Record<RecordedOutcome, number>> | null {
  const counts: Record<RecordedOutcome, number> = { FINISHED: 0, ERROR: 0, STUCK: 0 };
  for (const { outcome } of conversations) if (outcome !== null) counts[outcome] += 1;
  return counts.FINISHED + counts.ERROR + counts.STUCK === 0 ? null : counts;
}

function behavioursOf(
  conversations: readonly RecordedConversation[],
  { agent, pricing }: { readonly agent: AgentBehaviour; readonly pricing: Pricing },
): ReadonlyMap<string, AgentBehaviour> {
  const behaviours = conversations.filter(isExact).map((one) => {
    const { key, workMs, outcome, costNanoUsd, inputTokens, outputTokens } = one;
    const outcomes = { FINISHED: 0, ERROR: 0, STUCK: 0, [outcome]: 1 };
    const input = pricing === 'bill' ? costNanoUsd : inputTokens;
    const output = pricing === 'bill' ? 0 : outputTokens;
    const behaviour: AgentBehaviour = {
      ...agent,
      work: fixed(workMs),
      outcomes,
      inputTokens: input === null ? agent.inputTokens : fixed(input),
      outputTokens: output === null ? agent.outputTokens : fixed(output),
    };
    return [key, behaviour] as const;
  });
  return new Map(behaviours);
}

type ExactConversation = RecordedConversation & {
  readonly workMs: number;
  readonly outcome: RecordedOutcome;
};

/** What is known of it is enough to play it as it was. */
export function isExact(one: RecordedConversation): one is ExactConversation {
  return one.workMs !== null && one.outcome !== null;
}

/** What comes after the work is recorded as one stretch: without a check it is the collection, with one it is both. */
function afterWork(
  conversations: readonly RecordedConversation[],
  base: ModelOptions,
): Pick<ModelOptions, 'verify' | 'collect'> {
  const after = (checked: boolean): number[] =>
    conversations.flatMap(({ afterMs, checkPassed }) =>
      afterMs === null || (checkPassed !== null) !== checked ? [] : [afterMs],
    );
  const plain = after(false);
  const collectMs = spreadOf(plain)?.p50 ?? 0;
  const checked = after(true).map((ms) => Math.max(0, ms - collectMs));
  const verify = fitDistribution(checked);
  if (plain.length === 0 && verify === null) return { verify: base.verify, collect: base.collect };
  return { verify: verify ?? base.verify, collect: fitDistribution(plain) ?? fixed(0) };
}
