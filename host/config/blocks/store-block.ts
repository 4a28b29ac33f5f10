/**
 * The block `store`: what keeps the records, and how its server is reached.
 * Owns opening the URL and what is wrong with it; must not connect, and must not repeat the URL (D20).
 */
import { ParleyError } from '../../../core/parley-error.ts';
import { errorAt, openReference, type ConfigParts } from '../config-parts.ts';
import type { StoreConfig } from '../deployment-config.ts';
import type { EffectiveValue } from '../effective-values.ts';
import { readPemFiles } from '../pem-files.ts';
import type { Problem } from '../problem.ts';

/** Counts when the file names no other. */
export const STORE_URL_VARIABLE = 'PARLEY_DATABASE_URL';

export interface StoreValues {
  readonly kind: EffectiveValue;
  readonly pool: number;
  readonly statementTimeoutMs: number;
}

interface StoreBlock {
  readonly store: StoreConfig;
  readonly problems: readonly Problem[];
}

const SQLITE: StoreConfig = { kind: 'sqlite' };

export async function readStoreBlock(parts: ConfigParts, values: StoreValues): Promise<StoreBlock> {
  if (values.kind.value !== 'postgres') return { store: SQLITE, problems: [] };
  const written = parts.document.store ?? {};
  const reference = written.url ?? `os.environ/${STORE_URL_VARIABLE}`;
  const variable = reference.slice('os.environ/'.length);
  const wrong = (wording: { readonly message: string; readonly remedy: string | null }): StoreBlock => ({
    store: SQLITE,
    problems: [errorAt(parts, ['store', written.url === undefined ? 'kind' : 'url'], wording)],
  });
  const text = openReference(reference, parts.env);
  if (text === null) {
    const message = `Cannot use PostgreSQL as the store: environment variable "${variable}" is not set`;
    return wrong({ message, remedy: `set ${variable} to postgresql://USER:PASSWORD@HOST:PORT/DATABASE` });
  }
  const tls = written.tls === undefined ? null : readPemFiles(parts, 'store', written.tls);
  // Loaded only here: a deployment on SQLite reads nothing of the other one.
  const { parsePostgresUrl } = await import('../../../store/sql/postgres-address.ts');
  try {
    const server = {
      address: parsePostgresUrl(text),
      poolMax: values.pool,
      statementTimeoutMs: values.statementTimeoutMs,
      tls:
        tls === null
          ? null
          : {
              ca: tls.ca?.toString() ?? null,
              client:
                tls.client === null
                  ? null
                  : { certificate: tls.client.certificate.toString(), key: tls.client.key.toString() },
              serverName: written.tls?.server_name ?? null,
            },
      schema: null,
    };
    return { store: { kind: 'postgres', server }, problems: tls?.problems ?? [] };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return wrong({ message: `${error.message} (environment variable "${variable}")`, remedy: error.remedy });
  }
}
