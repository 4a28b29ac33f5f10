/**
 * Whether the secrets that a job uses can be opened here.
 * Owns which of them are used; a value is looked at for being there, and nothing else (D20).
 */
import type { Plan, SecretReference } from '../../core/plan/plan.ts';
import { asParleyError } from '../../core/parley-error.ts';
import { quote } from '../../dsl/read/quote.ts';
import { failed, passed, warned, type Finding } from '../finding.ts';

export type ResolveSecret = (reference: SecretReference) => Promise<string | null>;

const CHECK = 'secrets';

export async function checkSecrets(plan: Plan, resolve: ResolveSecret): Promise<readonly Finding[]> {
  const names = [...usedBy(plan)];
  const found = await Promise.all(
    names.map(async (name) => await secretFinding(name, plan.secrets[name], resolve)),
  );
  const bad = found.filter((finding) => finding !== null);
  const isAll = bad.length === 0 && names.length > 0;
  return isAll ? [passed(CHECK, names.join(', '))] : bad;
}

function usedBy({ items, finally: steps = [] }: Plan): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { secrets, repository } of items) {
    for (const name of Object.values(secrets)) names.add(name);
    if (repository !== null && repository.tokenSecret !== null) names.add(repository.tokenSecret);
  }
  for (const { to, keySecret } of steps) {
    if ('secret' in to) names.add(to.secret);
    if (keySecret !== null) names.add(keySecret);
  }
  return names;
}

async function secretFinding(
  name: string,
  reference: SecretReference | undefined,
  resolve: ResolveSecret,
): Promise<Finding | null> {
  if (reference === undefined) return failed(CHECK, `${quote(name)} is no secret of the job`, 'declare it');
  try {
    const value = await resolve(reference);
    if (value === null) return absent(name, reference);
    if (value !== '') return null;
    return warned(CHECK, `${quote(name)} is empty`, 'set a value, where one is needed');
  } catch (error) {
    return failed(
      CHECK,
      `${quote(name)} cannot be opened: ${asParleyError(error).message}`,
      'look at the store of the deployment',
    );
  }
}

function absent(name: string, reference: SecretReference): Finding {
  const what = quote(name);
  switch (reference.from) {
    case 'env':
      return failed(
        CHECK,
        `${what}: environment variable "${reference.name}" is not set`,
        `set ${reference.name}`,
      );
    case 'file':
      return failed(
        CHECK,
        `${what}: ${quote(reference.path)} cannot be read`,
        'write it, or name another file',
      );
    case 'store':
      return failed(
        CHECK,
        `${what}: the store holds no secret ${quote(reference.name)}`,
        'put it there first',
      );
    default:
      return reference satisfies never;
  }
}
