/**
 * What a deployment decided, as the activities need it.
 * Owns the shape; reading `parley.yaml` is the outermost shell's business. No field reaches the session limit (D10).
 */
import type { PlanAgent } from '../core/plan/plan-agent.ts';
import type { SandboxLimits } from '../core/sandbox/state.ts';
import type { GroupingStrategy } from '../core/status.ts';
import type { WarmPoolTarget } from '../core/placement/warm-pool.ts';
import type { CapacityLimits } from './placement-store.ts';

export interface Deployment {
  readonly limits: SandboxLimits;
  readonly capacity: CapacityLimits;
  /** Sandboxes that are booted ahead of demand; absent: none. */
  readonly warmPool?: WarmPoolTarget;
  readonly onFull: 'refuse' | 'queue' | 'pause_longest_idle';
  /** The user's application setting, for jobs that say nothing (D16). */
  readonly grouping: GroupingStrategy;
  /** The built-in proxy's vendor word (D1). */
  readonly vendor: string;
  /** Agent iterations when the job sets no limit. */
  readonly iterationsMax: number;
  /** The agent of conversations that name none; absent: our own. */
  readonly agent?: PlanAgent;
  /** Name and e-mail of commits, apart from any push credential (D19). */
  readonly gitAuthor: { readonly name: string; readonly email: string };
  /** True when client headers are forwarded to the gateway: reconciliation may then trust session ids (D27). */
  readonly forwardsHeaders: boolean;
  /** Where people reach the console, without a slash at its end; absent: it is not configured. */
  readonly consoleUrl?: string;
  /** How often a runtime and an agent are polled although they sent nothing. */
  readonly pollMs: number;
}
