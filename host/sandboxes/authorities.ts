/**
 * The authorities that sandboxes trust where the deployment names its own, as of an internal registry.
 * Owns the file: those of the public and the named ones together, because what programs are given replaces their own.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';

/** Where systems keep the authorities of the public; what an administrator added to them holds inside as well. */
const SYSTEM_BUNDLES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt'];

/** The path of the file; null where the deployment names none. */
export function writeAuthorities(named: string | null, file: string): string | null {
  if (named === null) return null;
  const bundle = SYSTEM_BUNDLES.find((path) => existsSync(path));
  const system = bundle === undefined ? rootCertificates.join('\n') : readFileSync(bundle, 'utf8');
  writeFileSync(file, `${system.trimEnd()}\n${named.trimEnd()}\n`, { mode: 0o644 });
  return file;
}
