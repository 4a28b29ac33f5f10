/**
 * The block `gateway.export`: where the external gateway reports what it billed.
 * Owns when an export counts as configured; must not fetch anything.
 */
import { errorAt, openReference, type ConfigParts } from '../config-parts.ts';
import type { GatewayExportConfig } from '../deployment-config.ts';
import type { Problem } from '../problem.ts';

/** An address that names an unset variable means that this machine has no export, which is no error. */
export function readGatewayExport(parts: ConfigParts): {
  readonly export: GatewayExportConfig | null;
  readonly problems: readonly Problem[];
} {
  const written = parts.document.gateway?.export;
  const url = written === undefined ? null : openReference(written.url, parts.env);
  if (written === undefined || url === null) return { export: null, problems: [] };
  const problems: Problem[] = [];
  if (!/^https?:\/\/[^/]/.test(url)) {
    problems.push(
      errorAt(parts, ['gateway', 'export', 'url'], {
        message: 'Cannot use the export of the gateway: its address is neither http: nor https:',
        remedy: 'write the whole address, such as https://gateway.example.com/spend/logs',
      }),
    );
  }
  const key = written.key === undefined ? '' : openReference(written.key, parts.env);
  if (key === null) {
    const variable = (written.key ?? '').slice('os.environ/'.length);
    problems.push(
      errorAt(parts, ['gateway', 'export', 'key'], {
        message: `Cannot use the export of the gateway: environment variable "${variable}" is not set`,
        remedy: `set ${variable}`,
      }),
    );
  }
  return { export: { url, apiKey: key ?? '', format: written.format ?? 'jsonl' }, problems };
}
