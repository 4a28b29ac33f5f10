/**
 * The world around the policy under test, as a test writes it: how long things take, how agents behave.
 * Owns names and defaults: everything takes a fixed time and succeeds, so that nothing but the rules is at work.
 */
import { fixed } from '../simulator/models/distribution.ts';
import { MODELS_STEADY, type AgentBehaviour, type ModelOptions } from '../simulator/models/model-options.ts';
import { distributionOf, milliseconds, type Time, type Times } from './written-time.ts';

/** How an agent works on one message. */
export interface WrittenAgent {
  /** 18 minutes by default. */
  readonly work?: Times;
  /** `FINISHED` by default. */
  readonly outcome?: 'FINISHED' | 'ERROR' | 'STUCK';
  /** Stretches without activity, once so much of the work is done; `leased`: a tool holds a lease meanwhile (D9). */
  readonly gaps?: readonly { readonly at: Time; readonly length: Time; readonly leased?: boolean }[];
  /** True: it requests a confirmation on the way, and no user answers by itself. */
  readonly asks?: boolean;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** Each field may be left out. */
export interface WrittenModels {
  readonly boot?: Times;
  readonly resume?: Times;
  readonly stop?: Times;
  readonly archive?: Times;
  readonly remove?: Times;
  /** Every agent without an entry of its own. */
  readonly agent?: WrittenAgent;
  /** By name of the conversation, or key of the item; `*` stands for any characters. */
  readonly agents?: Readonly<Record<string, WrittenAgent>>;
}

/** @throws RangeError when a time is no duration */
export function modelsFrom(written: WrittenModels): ModelOptions {
  const { runtime } = MODELS_STEADY;
  const times = (given: Times | undefined, base: typeof runtime.boot) =>
    given === undefined ? base : distributionOf(given);
  const agent = behaviourFrom(written.agent ?? {}, MODELS_STEADY.agent);
  return {
    ...MODELS_STEADY,
    runtime: {
      boot: times(written.boot, runtime.boot),
      resume: times(written.resume, runtime.resume),
      stop: times(written.stop, runtime.stop),
      archive: times(written.archive, runtime.archive),
      destroy: times(written.remove, runtime.destroy),
    },
    agent,
    agentRules: Object.entries(written.agents ?? {}).map(([keys, own]) => ({
      keys,
      behaviour: behaviourFrom(own, agent),
    })),
  };
}

const CERTAIN = {
  FINISHED: { FINISHED: 1, ERROR: 0, STUCK: 0 },
  ERROR: { FINISHED: 0, ERROR: 1, STUCK: 0 },
  STUCK: { FINISHED: 0, ERROR: 0, STUCK: 1 },
} as const;

function behaviourFrom(written: WrittenAgent, base: AgentBehaviour): AgentBehaviour {
  const { work, outcome, gaps, asks, inputTokens, outputTokens } = written;
  return {
    ...base,
    ...(work === undefined ? {} : { work: distributionOf(work) }),
    ...(outcome === undefined ? {} : { outcomes: CERTAIN[outcome] }),
    ...(asks === undefined ? {} : { confirmation: { share: asks ? 1 : 0, answerAfter: null } }),
    ...(inputTokens === undefined ? {} : { inputTokens: fixed(inputTokens) }),
    ...(outputTokens === undefined ? {} : { outputTokens: fixed(outputTokens) }),
    ...(gaps === undefined
      ? {}
      : {
          gaps: gaps.map(({ at, length, leased }) => ({
            atMs: milliseconds(at),
            lengthMs: milliseconds(length),
            leased: leased ?? false,
          })),
        }),
  };
}
