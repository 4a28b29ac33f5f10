/**
 * Whether an action waits for the user. Pure.
 */
import type { SecurityRisk } from '../conversation/event.ts';
import type { ConfirmationPolicy } from '../serve/wire-schema.ts';

const RANK = { LOW: 1, MEDIUM: 2, HIGH: 3 } as const;

export function needsConfirmation(policy: ConfirmationPolicy, risk: SecurityRisk): boolean {
  switch (policy.kind) {
    case 'NeverConfirm':
      return false;
    case 'AlwaysConfirm':
      return true;
    case 'ConfirmRisky':
      return risk === 'UNKNOWN' ? policy.confirm_unknown : RANK[risk] >= RANK[policy.threshold];
    default:
      return policy satisfies never;
  }
}
