/**
 * The blocks `runtime.limits` and `runtime.egress` as plain data.
 * Owns the units, what the word `code_hosts` stands for, and the file of authorities; must not resolve a name.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { SandboxLimits } from '../../../ports/sandbox-runtime.ts';
import { errorAt, type ConfigParts } from '../config-parts.ts';
import type { CodeHostConfig } from '../deployment-config.ts';
import { numberOf, textOf, type EffectiveValue } from '../effective-values.ts';
import type { Problem } from '../problem.ts';
import type { SettingPath } from '../settings.ts';

const MEBIBYTE = 1024 ** 2;
/** Stands in the list for the hosts of `code_hosts`. */
const CODE_HOSTS_WORD = 'code_hosts';

/** Zero sets no bound. */
export function sandboxLimitsOf(values: readonly EffectiveValue[]): SandboxLimits {
  const bound = (name: SettingPath, unit: number): number | null => {
    const value = numberOf(values, name);
    return value === 0 ? null : value * unit;
  };
  return {
    memoryBytes: bound('runtime.limits.memory_mb', MEBIBYTE),
    processes: bound('runtime.limits.processes', 1),
    cpus: bound('runtime.limits.cpu_percent', 1 / 100),
    fileBytes: bound('runtime.limits.file_mb', MEBIBYTE),
    workspaceBytes: bound('runtime.limits.disk_mb', MEBIBYTE),
  };
}

/** Each rule once; a code host of this machine has no name and gives none. */
export function egressRules(
  written: readonly string[],
  codeHosts: Readonly<Record<string, CodeHostConfig>>,
): readonly string[] {
  const rules = written.flatMap((rule) =>
    rule === CODE_HOSTS_WORD
      ? Object.values(codeHosts).flatMap(({ url }) => hostOf(url))
      : [rule.toLowerCase()],
  );
  return [...new Set(rules)];
}

/** A template is no URL where it has braces in its path, so only its beginning is read. */
function hostOf(template: string): readonly string[] {
  const match = /^https?:\/\/([A-Za-z0-9._-]+(:\d+)?)(\/|$)/.exec(template);
  return match?.[1] === undefined ? [] : [match[1].toLowerCase()];
}

/** Authorities for sandboxes as PEM text, null where none are named; a file that cannot be read or holds none is a problem. */
export function readEgressCa(
  parts: ConfigParts,
  values: readonly EffectiveValue[],
): { readonly egressCa: string | null; readonly problems: readonly Problem[] } {
  const written = textOf(values, 'runtime.egress.ca');
  if (written === '') return { egressCa: null, problems: [] };
  const wrong = (message: string, remedy: string) => ({
    egressCa: null,
    problems: [errorAt(parts, ['runtime', 'egress', 'ca'], { message, remedy })],
  });
  if (textOf(values, 'runtime.kind') === 'kubernetes')
    return wrong(
      'Cannot use "runtime.egress.ca" with pods: their image says which authorities they trust',
      'put the certificates into the image of the sandboxes, and leave the key out',
    );
  try {
    const pem = readFileSync(path.resolve(parts.baseDir, written), 'utf8');
    // Of what is no certificate in PEM it throws.
    void new X509Certificate(pem);
    return { egressCa: pem, problems: [] };
  } catch {
    return wrong(
      `Cannot use "runtime.egress.ca": "${written}" is no file with certificates in PEM that can be read`,
      'name a file that begins with "-----BEGIN CERTIFICATE-----"',
    );
  }
}
