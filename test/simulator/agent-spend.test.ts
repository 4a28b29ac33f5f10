/** What an agent has cost is counted from the work it did: at any query, however late, it never falls again. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import { Agent } from '../../simulator/models/agent.ts';
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY, type AgentBehaviour } from '../../simulator/models/model-options.ts';
import { RandomStream } from '../../simulator/random.ts';

const WORK_MS = HOUR_MS;
const BEHAVIOUR: AgentBehaviour = { ...MODELS_STEADY.agent, work: fixed(WORK_MS) };
const price = MODELS_STEADY.prices.default;

const HALTS: readonly (readonly [string, Partial<AgentBehaviour>])[] = [
  ['nothing', {}],
  ['a rate limit', { rateLimit: { share: 1, wait: fixed(MINUTE_MS) } }],
  ['a question', { confirmation: { share: 1, answerAfter: null } }],
];

/** At work on one message since the instant 0. */
function atWork(seed: number, halt: Partial<AgentBehaviour>): Agent {
  const agent = new Agent(0);
  agent.take(0, { ...BEHAVIOUR, ...halt }, { stream: new RandomStream(seed), price });
  return agent;
}

/** What may happen to an agent, by name, each at an instant. */
const HAPPENS: Readonly<Record<string, (agent: Agent, now: number) => void>> = {
  settle: (agent, now) => agent.settle(now),
  cut: (agent, now) => agent.cut(now, 'PAUSED'),
  goOn: (agent, now) => agent.goOn(now),
  stand: (agent, now) => agent.stand(now, 'runtime'),
  walk: (agent, now) => agent.walk(now, 'runtime'),
  wait: (agent, now) => agent.wait(now, MINUTE_MS),
  limit: (agent, now) => agent.limit(now, now + MINUTE_MS),
  giveUp: (agent, now) => agent.giveUp(now, MINUTE_MS),
};

describe('the spend of an agent', () => {
  it.each(HALTS)('never falls, when it meets %s', (_name, halt) => {
    const happening = fc.record({ afterMs: fc.nat(WORK_MS), what: fc.constantFrom(...Object.keys(HAPPENS)) });
    fc.assert(
      fc.property(fc.nat(), fc.array(happening, { maxLength: 8 }), (seed, happenings) => {
        const agent = atWork(seed, halt);
        let now = 0;
        let told = 0;
        for (const { afterMs, what } of happenings) {
          now += afterMs;
          const before = agent.spentBy(now);
          HAPPENS[what]?.(agent, now);
          const after = agent.spentBy(now);
          expect(before).toBeGreaterThanOrEqual(told);
          expect(after).toBeGreaterThanOrEqual(before);
          told = after;
        }
      }),
    );
  });

  it('stops where the agent does, though nobody has looked since', () => {
    const agent = atWork(1, { rateLimit: { share: 1, wait: fixed(MINUTE_MS) } });
    const restsAt = agent.restsAt ?? 0;
    expect(restsAt).toBeLessThan(WORK_MS);
    expect(agent.spentBy(WORK_MS)).toBe(agent.spentBy(restsAt));
    expect(agent.spentBy(restsAt)).toBeGreaterThan(agent.spentBy(restsAt / 2));
  });
});
