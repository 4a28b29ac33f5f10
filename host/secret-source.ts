/**
 * Where a job's secret references lead on this machine: environment, file, or the sealed store.
 * Owns the reading; a value goes straight into the vault and is never printed.
 */
import { readFile } from 'node:fs/promises';
import type { Plan, SecretReference } from '../core/plan/plan.ts';
import type { SecretSource } from '../ports/secret-source.ts';
import type { SecretVault } from '../ports/secret-vault.ts';

/** Scope of secrets that belong to the installation. */
export const INSTALLATION_SCOPE = 'installation';

export function createSecretSource(
  env: Readonly<Record<string, string | undefined>>,
  vault: Pick<SecretVault, 'get'>,
): SecretSource {
  return { resolve: (reference) => resolve(reference, env, vault) };
}

async function resolve(
  reference: SecretReference,
  env: Readonly<Record<string, string | undefined>>,
  vault: Pick<SecretVault, 'get'>,
): Promise<string | null> {
  if (reference.from === 'store') return vault.get(INSTALLATION_SCOPE, reference.name);
  return here(reference, env);
}

/** In this process's environment, or on this machine's disk; null for what only the store has. */
async function here(
  reference: SecretReference,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  switch (reference.from) {
    case 'env':
      return env[reference.name] ?? null;
    case 'file':
      // One trailing newline is how editors end a file, not part of the secret.
      return readFile(reference.path, 'utf8').then(
        (text) => text.replace(/\r?\n$/, ''),
        () => null,
      );
    case 'store':
      return null;
  }
}

/**
 * Secrets of a plan that this process has in its environment, by the plan's names for them: handed over with a run, so
 * that whichever process goes on with it has what its user has.
 */
export function environmentSecrets(
  { secrets }: Pick<Plan, 'secrets'>,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(secrets).flatMap(([name, reference]) => {
      const value = reference.from === 'env' ? env[reference.name] : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The same with files, for a service that cannot read them. */
export async function secretsHere(
  { secrets }: Pick<Plan, 'secrets'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const [name, reference] of Object.entries(secrets)) {
    const value = await here(reference, env);
    if (value !== null) found[name] = value;
  }
  return found;
}
