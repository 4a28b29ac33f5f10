/**
 * The secrets of a run by the names in its plan: given with the run and sealed, or resolved from their reference.
 * Owns which of the two counts: what the user gave with the run, because any process that goes on can read it.
 */
import type { RunId } from '../core/ids.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { SecretVault } from '../ports/secret-vault.ts';
import type { World } from './world.ts';

/** Scope of a run's secrets in the vault. */
export function runSecretScope(runId: RunId): string {
  return `run/${runId}`;
}

/** @throws ParleyError secret_unknown */
export async function secretOfRun(
  { vault, secrets }: Pick<World, 'vault' | 'secrets'>,
  { runId, plan }: { readonly runId: RunId; readonly plan: Pick<Plan, 'secrets'> },
  name: string,
): Promise<string> {
  const reference = plan.secrets[name];
  const sealed = reference === undefined ? null : await vault.get(runSecretScope(runId), name);
  const value = sealed ?? (reference === undefined ? null : await secrets.resolve(reference));
  if (value === null) throw new ParleyError('secret_unknown', `Cannot find the secret "${name}"`);
  return value;
}

/** Called before the run gets its first event. A repeat replaces the values. */
export async function sealRunSecrets(
  vault: Pick<SecretVault, 'put'>,
  runId: RunId,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, value] of Object.entries(values)) await vault.put(runSecretScope(runId), name, value);
}
