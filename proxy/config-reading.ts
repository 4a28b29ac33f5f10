/**
 * From the raw `proxy_config` block to a checked configuration (D25).
 * Owns the spec's keys; broken input becomes problems, never an exception.
 */
import {
  HEADERS_KEPT_BACK_DEFAULT,
  type ConfigProblem,
  type ModelEntry,
  type ProxyConfig,
} from './config.ts';
import { resolveEnvironment, type Environment } from './environment.ts';
import { asObject } from './json-value.ts';
import { readModelEntry } from './model-entry.ts';

const ROOT = 'proxy_config';
const MASTER_KEY_VARIABLE = 'PROXY_MASTER_KEY';
const TOP_KEYS = new Set(['model_list', 'general_settings']);
const SETTING_KEYS = new Set(['forward_client_headers_to_llm_api', 'headers_kept_back']);

interface Reading {
  readonly env: Environment;
  readonly vendor: string;
  readonly problems: ConfigProblem[];
}

/**
 * Reads the value of the key `proxy_config`; undefined reads as an empty block.
 * `config` holds every entry without an error; it must not be served while a problem is an `error`.
 */
export function parseProxyConfig(
  raw: unknown,
  env: Environment,
  options: { readonly vendor: string },
): { readonly config: ProxyConfig; readonly problems: ConfigProblem[] } {
  const reading: Reading = { env, vendor: options.vendor, problems: [] };
  const block = raw === undefined || raw === null ? {} : asObject(raw);
  if (block === null)
    report(reading, 'error', ROOT, 'Cannot load the proxy configuration: it must be an object');
  warnUnknown(reading, ROOT, block ?? {}, TOP_KEYS);
  const settings = readSettings(reading, block?.['general_settings']);
  const config = {
    ...settings,
    models: readModels(reading, block?.['model_list']),
    masterKey: readMasterKey(reading),
  };
  return { config, problems: reading.problems };
}

function report(reading: Reading, severity: ConfigProblem['severity'], path: string, message: string): void {
  reading.problems.push({ severity, path, message });
}

function warnUnknown(reading: Reading, path: string, block: object, known: ReadonlySet<string>): void {
  for (const key of Object.keys(block)) {
    if (known.has(key)) continue;
    report(
      reading,
      'warning',
      `${path}.${key}`,
      `Cannot use "${path}.${key}": the proxy does not know this key`,
    );
  }
}

function readModels(reading: Reading, list: unknown): ModelEntry[] {
  const path = `${ROOT}.model_list`;
  if (list !== undefined && list !== null && !Array.isArray(list)) {
    report(reading, 'error', path, 'Cannot load the model list: it must be a list');
    return [];
  }
  const models = new Map<string, ModelEntry>();
  for (const [i, raw] of ((list ?? []) as readonly unknown[]).entries()) {
    const entry = readModelEntry(raw, { ...reading, path: `${path}[${i}]` });
    if (entry === null) continue;
    if (models.has(entry.modelName)) {
      const message = `Cannot load model entry "${entry.modelName}" (${path}[${i}]): an earlier entry has the same model_name`;
      report(reading, 'error', `${path}[${i}].model_name`, message);
    } else {
      models.set(entry.modelName, entry);
    }
  }
  return [...models.values()];
}

function readSettings(
  reading: Reading,
  raw: unknown,
): { readonly forwardClientHeaders: boolean; readonly headersKeptBack: readonly string[] } {
  const path = `${ROOT}.general_settings`;
  const resolved = resolveEnvironment(raw ?? {}, { ...reading, path, owner: 'the general settings' });
  const settings = asObject(resolved);
  if (settings === null)
    report(reading, 'error', path, 'Cannot load the general settings: they must be an object');
  warnUnknown(reading, path, settings ?? {}, SETTING_KEYS);
  return {
    forwardClientHeaders: readFlag(reading, `${path}.forward_client_headers_to_llm_api`, settings),
    headersKeptBack: readKeptBack(reading, `${path}.headers_kept_back`, settings?.['headers_kept_back']),
  };
}

/** A text is accepted beside a boolean because an environment variable can only hold one. */
function readFlag(
  reading: Reading,
  path: string,
  settings: Readonly<Record<string, unknown>> | null,
): boolean {
  const value = settings?.['forward_client_headers_to_llm_api'];
  if (value === true || value === 'true') return true;
  if (value !== undefined && value !== false && value !== 'false') {
    report(reading, 'error', path, 'Cannot load forward_client_headers_to_llm_api: it must be true or false');
  }
  return false;
}

function readKeptBack(reading: Reading, path: string, value: unknown): readonly string[] {
  if (value === undefined) return HEADERS_KEPT_BACK_DEFAULT;
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) {
    return value.map((name) => name.toLowerCase());
  }
  report(reading, 'error', path, 'Cannot load headers_kept_back: it must be a list of header names');
  return HEADERS_KEPT_BACK_DEFAULT;
}

function readMasterKey(reading: Reading): string | null {
  const key = reading.env[MASTER_KEY_VARIABLE];
  if (key !== undefined && key !== '') return key;
  const message = `Cannot open the admin routes: environment variable "${MASTER_KEY_VARIABLE}" is not set`;
  report(reading, 'warning', `${ROOT}.master_key`, message);
  return null;
}
