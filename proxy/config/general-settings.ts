/**
 * The block `general_settings` (D23).
 * Owns its keys and their checks; must not read a model entry.
 */
import { report, warnUnknown, type Reading } from './config-report.ts';
import { HEADERS_KEPT_BACK_DEFAULT, type ProxyConfig } from './config.ts';
import { resolveEnvironment } from './environment.ts';
import { asObject, type JsonObject } from '../relay/json-value.ts';
import { RETENTION_DAYS_MAX } from '../limits.ts';
import { readStaticHeaders } from './static-headers.ts';

const PATH = 'proxy_config.general_settings';
const KEYS = new Set([
  'forward_client_headers_to_llm_api',
  'headers_kept_back',
  'llm_provider',
  'custom_llm_extra_headers',
  'spend_retention_days',
  'commit_before_dispatch',
]);
/** The only provider setting under which headers for every call may be set; the others have theirs fixed. */
const CUSTOM = 'custom';
const PROVIDERS = [CUSTOM, 'anthropic', 'openai', 'bedrock', 'azure', 'vertex'];

type GeneralSettings = Pick<
  ProxyConfig,
  | 'forwardClientHeaders'
  | 'headersKeptBack'
  | 'customHeaders'
  | 'spendRetentionDays'
  | 'commitsBeforeDispatch'
>;

export function readGeneralSettings(reading: Reading, raw: unknown): GeneralSettings {
  const owner = 'the general settings';
  const settings = asObject(resolveEnvironment(raw ?? {}, { ...reading, path: PATH, owner }));
  if (settings === null)
    report(reading, 'error', PATH, 'Cannot load the general settings: they must be an object');
  warnUnknown(reading, PATH, settings ?? {}, KEYS);
  return {
    forwardClientHeaders: readFlag(reading, settings, 'forward_client_headers_to_llm_api'),
    headersKeptBack: readKeptBack(reading, settings?.['headers_kept_back']),
    customHeaders: readCustomHeaders(reading, settings ?? {}, asObject(raw) ?? {}),
    spendRetentionDays: readRetention(reading, settings?.['spend_retention_days']),
    commitsBeforeDispatch: readFlag(reading, settings, 'commit_before_dispatch'),
  };
}

/** A text is accepted beside a boolean because an environment variable can only hold one. */
function readFlag(reading: Reading, settings: JsonObject | null, name: string): boolean {
  const value = settings?.[name];
  if (value === true || value === 'true') return true;
  if (value !== undefined && value !== false && value !== 'false') {
    report(reading, 'error', `${PATH}.${name}`, `Cannot load ${name}: it must be true or false`);
  }
  return false;
}

function readKeptBack(reading: Reading, value: unknown): readonly string[] {
  if (value === undefined) return HEADERS_KEPT_BACK_DEFAULT;
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) {
    return value.map((name) => name.toLowerCase());
  }
  const message = 'Cannot load headers_kept_back: it must be a list of header names';
  report(reading, 'error', `${PATH}.headers_kept_back`, message);
  return HEADERS_KEPT_BACK_DEFAULT;
}

function readCustomHeaders(
  reading: Reading,
  settings: JsonObject,
  written: JsonObject,
): ReadonlyMap<string, string> {
  const name = 'custom_llm_extra_headers';
  const path = `${PATH}.${name}`;
  const provider = readProvider(reading, settings['llm_provider']);
  if (settings[name] === undefined) return new Map();
  if (provider !== CUSTOM) {
    const message = `Cannot load ${name}: they are for llm_provider "${CUSTOM}" only, and it is "${provider}"`;
    report(reading, 'error', path, message);
    return new Map();
  }
  const { headers, refused, leftOut } = readStaticHeaders(settings[name], reading.vendor);
  for (const reason of refused) report(reading, 'error', path, `Cannot load ${name}: ${reason}`);
  for (const reason of leftOut) report(reading, 'warning', path, `Cannot vouch for ${name}: ${reason}`);
  for (const header of plainCredentials(written[name])) {
    const message = `Cannot vouch for ${name}: "${header}" stands in plain text in the configuration; write os.environ/NAME`;
    report(reading, 'warning', path, message);
  }
  return headers;
}

/** Names that usually carry a credential, and whose value is written out. */
function plainCredentials(written: unknown): readonly string[] {
  return Object.entries(asObject(written) ?? {})
    .filter(
      ([name, value]) => /auth|key|token|secret/i.test(name) && !String(value).startsWith('os.environ/'),
    )
    .map(([name]) => name);
}

function readProvider(reading: Reading, value: unknown): string {
  if (value === undefined) return CUSTOM;
  if (typeof value === 'string' && PROVIDERS.includes(value)) return value;
  const message = `Cannot load llm_provider: it must be one of ${PROVIDERS.join(', ')}`;
  report(reading, 'error', `${PATH}.llm_provider`, message);
  return CUSTOM;
}

function readRetention(reading: Reading, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const days = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof days === 'number' && Number.isInteger(days) && days >= 1 && days <= RETENTION_DAYS_MAX)
    return days;
  const message = `Cannot load spend_retention_days: it must be a whole number from 1 to ${RETENTION_DAYS_MAX}`;
  report(reading, 'error', `${PATH}.spend_retention_days`, message);
  return null;
}
