/**
 * A stretch of time in which the gateway refuses every agent, and what that does to one of them.
 * Owns the reading of the status, as the reference Agent Server reads it; must not know conversations.
 */
import { MINUTE_MS } from '../../core/time.ts';
import type { Agent } from './agent.ts';

export interface GatewayOutage {
  /** HTTP status of every answer. */
  readonly status: number;
  /** Epoch milliseconds. */
  readonly until: number;
}

/** What passes by itself is asked again for so long, as the Agent Server does by default; then the work ends. */
const ASKED_AGAIN_MS = 10 * MINUTE_MS;
const LIMITED = 429;
/** Statuses that are asked again. */
const PASSING: ReadonlySet<number> = new Set([408, 500, 502, 503, 504, 529]);

/** Does nothing to an agent at rest, and nothing once it is over. */
export function strikeAgent(agent: Agent, { status, until }: GatewayOutage, now: number): void {
  agent.settle(now);
  if (agent.status !== 'RUNNING' || agent.isStill || now >= until) return;
  if (status === LIMITED) agent.limit(now, until);
  else if (!PASSING.has(status)) agent.giveUp(now, 0);
  else if (until - now > ASKED_AGAIN_MS) agent.giveUp(now, ASKED_AGAIN_MS);
  else agent.wait(now, until - now);
}
