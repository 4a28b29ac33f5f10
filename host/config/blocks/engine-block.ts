/**
 * What the block `engine` holds besides single values: certificates, the key of the server, and the codec's keys.
 * Owns reading them and what is wrong with them; must not connect, and must not repeat a value (D20).
 */
import { ParleyError } from '../../../core/parley-error.ts';
import type { TemporalTls } from '../../../temporal/server-address.ts';
import type { MetricsAddress } from '../../../telemetry/metrics-endpoint.ts';
import { errorAt, openReference, type ConfigParts } from '../config-parts.ts';
import type { EffectiveValue } from '../effective-values.ts';
import { readPemFiles } from '../pem-files.ts';
import type { Problem } from '../problem.ts';

/** Counts when the file says nothing; `parley temporal register` reads it too. */
const API_KEY_VARIABLE = 'PARLEY_TEMPORAL_API_KEY';
const CODEC_KEYS_VARIABLE = 'PARLEY_TEMPORAL_CODEC_KEYS';
/** Secrets of the engine that are given by a variable of this name. */
export const SECRET_VARIABLES = [API_KEY_VARIABLE, CODEC_KEYS_VARIABLE];

export interface EngineBlock {
  /** Null when the file does not ask for TLS. */
  readonly tls: TemporalTls | null;
  readonly apiKey: string | null;
  /** Null shows no metrics. */
  readonly metrics: MetricsAddress | null;
  readonly problems: readonly Problem[];
}

/** Single values whose form alone does not say whether they can be used. */
export interface EngineValues {
  readonly metrics: EffectiveValue;
  /** Empty for none. */
  readonly deployment: string;
  readonly buildId: EffectiveValue;
}

export async function readEngineBlock(parts: ConfigParts, values: EngineValues): Promise<EngineBlock> {
  const tls = readTls(parts);
  const apiKey = readApiKey(parts);
  const metrics = await readMetrics(parts, values.metrics);
  const problems = [
    ...tls.problems,
    ...apiKey.problems,
    ...metrics.problems,
    ...buildProblems(parts, values),
    ...(await codecProblems(parts)),
  ];
  return { tls: tls.tls, apiKey: apiKey.key, metrics: metrics.address, problems };
}

async function readMetrics(
  parts: ConfigParts,
  given: EffectiveValue,
): Promise<{ readonly address: MetricsAddress | null; readonly problems: readonly Problem[] }> {
  if (given.value === '') return { address: null, problems: [] };
  const { parseMetricsAddress } = await import('../../../telemetry/metrics-endpoint.ts');
  try {
    return { address: parseMetricsAddress(String(given.value)), problems: [] };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const { message, remedy } = error;
    return { address: null, problems: [problemOf(parts, given, { message, remedy })] };
  }
}

/** A build of nothing would be silently left out. */
function buildProblems(parts: ConfigParts, { deployment, buildId }: EngineValues): readonly Problem[] {
  if (buildId.value === '' || deployment !== '') return [];
  const message = `Cannot use build "${String(buildId.value)}": no deployment is named that it is a build of`;
  const remedy = 'set engine.versioning.deployment or PARLEY_DEPLOYMENT';
  return [problemOf(parts, buildId, { message, remedy })];
}

/** At its key in the file, or at its variable. */
function problemOf(
  parts: ConfigParts,
  { path: name, origin, source }: EffectiveValue,
  wording: Pick<Problem, 'message' | 'remedy'>,
): Problem {
  if (source !== 'env') return errorAt(parts, name.split('.'), wording);
  const file = origin.replace(/^env /, 'environment ');
  return { severity: 'error', area: 'deployment', file, line: null, column: null, ...wording };
}

function readTls(parts: ConfigParts): {
  readonly tls: TemporalTls | null;
  readonly problems: readonly Problem[];
} {
  const written = parts.document.engine?.tls;
  if (written === undefined) return { tls: null, problems: [] };
  const { ca, client, problems } = readPemFiles(parts, 'engine', written);
  const tls: TemporalTls = {
    ...(ca === null ? {} : { rootCertificates: ca }),
    ...(written.server_name === undefined ? {} : { serverName: written.server_name }),
    ...(client === null ? {} : { client }),
  };
  return { tls, problems };
}

function readApiKey(parts: ConfigParts): {
  readonly key: string | null;
  readonly problems: readonly Problem[];
} {
  const written = parts.document.engine?.api_key;
  if (written === undefined) return { key: parts.env[API_KEY_VARIABLE] || null, problems: [] };
  const key = openReference(written, parts.env);
  if (key !== null) return { key, problems: [] };
  const variable = written.slice('os.environ/'.length);
  const message = `Cannot use the key of the Temporal server: environment variable "${variable}" is not set`;
  const problem = errorAt(parts, ['engine', 'api_key'], {
    message,
    remedy: `set ${variable}, or remove the key`,
  });
  return { key, problems: [problem] };
}

/** The keys themselves are read where they are used; here only whether they can be. */
async function codecProblems({ env }: ConfigParts): Promise<readonly Problem[]> {
  const { parseCodecKeys } = await import('../../../temporal/codec/codec-keys.ts');
  try {
    parseCodecKeys(env[CODEC_KEYS_VARIABLE]);
    return [];
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const [message = '', remedy = null] = error.message.split('; ', 2);
    const place = { file: `environment ${CODEC_KEYS_VARIABLE}`, line: null, column: null };
    return [{ severity: 'error', area: 'deployment', ...place, message, remedy }];
  }
}
