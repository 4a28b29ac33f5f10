/**
 * From the raw `proxy_config` block to a checked configuration (D25).
 * Owns the spec's keys; broken input becomes problems, never an exception.
 */
import { report, warnUnknown, type Reading } from './config-report.ts';
import type { ConfigProblem, ModelEntry, ProxyConfig } from './config.ts';
import type { Environment } from './environment.ts';
import { readGeneralSettings } from './general-settings.ts';
import { asObject } from '../relay/json-value.ts';
import { readModelEntry } from './model-entry.ts';
import { readRetryRule } from '../relay/retry-rule.ts';

const ROOT = 'proxy_config';
const MASTER_KEY_VARIABLE = 'PROXY_MASTER_KEY';
const TOP_KEYS = new Set(['model_list', 'general_settings', 'router_settings']);

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
  const settings = readGeneralSettings(reading, block?.['general_settings']);
  const models = readModels(reading, block?.['model_list'], settings.customHeaders);
  const names = new Set(models.map((entry) => entry.modelName));
  const retry = readRetryRule(reading, block?.['router_settings'], names);
  const config = { ...settings, models, retry, masterKey: readMasterKey(reading) };
  return { config, problems: reading.problems };
}

function readModels(
  reading: Reading,
  list: unknown,
  customHeaders: ModelEntry['extraHeaders'],
): readonly ModelEntry[] {
  const path = `${ROOT}.model_list`;
  if (list !== undefined && list !== null && !Array.isArray(list)) {
    report(reading, 'error', path, 'Cannot load the model list: it must be a list');
    return [];
  }
  const models: ModelEntry[] = [];
  const ids = new Set<string>();
  for (const [i, raw] of ((list ?? []) as readonly unknown[]).entries()) {
    const entry = readModelEntry(raw, { ...reading, customHeaders, path: `${path}[${i}]` });
    if (entry === null) continue;
    if (ids.has(entry.id)) {
      const message = `Cannot load model entry "${entry.modelName}" (${path}[${i}]): an earlier entry has the same name, model and address; entries that share load differ, or have a model_info.id each`;
      report(reading, 'error', `${path}[${i}]`, message);
    } else {
      ids.add(entry.id);
      models.push(entry);
    }
  }
  return models;
}

function readMasterKey(reading: Reading): string | null {
  const key = reading.env[MASTER_KEY_VARIABLE];
  if (key !== undefined && key !== '') return key;
  const message = `Cannot open the admin routes: environment variable "${MASTER_KEY_VARIABLE}" is not set`;
  report(reading, 'warning', `${ROOT}.master_key`, message);
  return null;
}
