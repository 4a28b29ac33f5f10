/**
 * Where a job's secret references lead.
 * Owns the interface; values go from here into the vault and nowhere else (D20).
 */
import type { SecretReference } from '../core/plan/plan.ts';

export interface SecretSource {
  /** The value, or null when the reference leads nowhere. */
  resolve(reference: SecretReference): Promise<string | null>;
}
