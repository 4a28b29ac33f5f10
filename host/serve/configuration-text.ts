/**
 * Single keys of the configuration, read from its text and changed in it.
 * Owns which field stands for which key; comments and everything else of the text stay as they are.
 */
import { isCollection, isMap, parseDocument, type Document } from 'yaml';
import { parsedJson } from '../../core/text/parsed-json.ts';
import type {
  ConfigurationFields,
  ConfigurationFieldsPatch,
} from '../../api/configuration/configuration-desk.ts';
import type { Deployment } from '../../ports/deployment.ts';
import { isFollowed } from '../config/shared-text.ts';

type Path = readonly [string, ...string[]];

const SETTINGS_BLOCK = ['proxy_config', 'general_settings'] as const;

const KEYS: Readonly<Record<keyof ConfigurationFields, Path>> = {
  idle_time: ['limits', 'idle_time'],
  deletion_time: ['limits', 'deletion_time'],
  forward_client_headers_to_llm_api: [...SETTINGS_BLOCK, 'forward_client_headers_to_llm_api'],
  llm_provider: [...SETTINGS_BLOCK, 'llm_provider'],
  custom_llm_extra_headers: [...SETTINGS_BLOCK, 'custom_llm_extra_headers'],
};

/** As the proxy takes it when nothing is said. */
const PROVIDER_DEFAULT = 'custom';
/** Longer lines are not folded: a text of a header must stay in one piece. */
const STRINGIFY = { lineWidth: 0 } as const;

/** The fields as they are in force and, where only the text knows, as they are written. */
export function fieldsOf(text: string, { limits, forwardsHeaders }: Deployment): ConfigurationFields {
  const document = parseDocument(text);
  const provider = document.getIn(KEYS.llm_provider);
  return {
    idle_time: (limits.idleTimeMs ?? 0) / 1_000,
    deletion_time: (limits.deletionTimeMs ?? 0) / 1_000,
    forward_client_headers_to_llm_api: forwardsHeaders,
    llm_provider: typeof provider === 'string' ? provider : PROVIDER_DEFAULT,
    custom_llm_extra_headers: headersOf(document),
  };
}

/** What of a file every process can follow; comments stay. */
export function followedPart(text: string): string {
  const document = parseDocument(text);
  const { contents } = document;
  if (document.errors.length > 0 || !isMap(contents)) return '';
  for (const { key } of [...contents.items]) {
    const name = String(key);
    const block = document.get(name, true);
    if (isFollowed(name) || !isMap(block)) {
      if (!isFollowed(name)) document.delete(name);
      continue;
    }
    for (const { key: inner } of [...block.items])
      if (!isFollowed(`${name}.${String(inner)}`)) block.delete(inner);
    if (block.items.length === 0) document.delete(name);
  }
  return contents.items.length === 0 ? '' : document.toString(STRINGIFY);
}

/** Also when they are one JSON text, as a form gives it; what cannot be read is none. */
function headersOf(document: Document): Record<string, string> {
  const node = document.getIn(KEYS.custom_llm_extra_headers, true);
  const written: unknown = isMap(node) ? node.toJS(document) : document.getIn(KEYS.custom_llm_extra_headers);
  const found = typeof written === 'string' ? parsedJson(written) : written;
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return {};
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, String(value)]));
}

/** The text with these fields in it; null when it is no mapping, so that nothing can be put into it. */
export function withFields(text: string, fields: ConfigurationFieldsPatch): string | null {
  const document = parseDocument(text);
  if (document.errors.length > 0) return null;
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && !put(document, KEYS[name as keyof ConfigurationFields], value)) return null;
  }
  return document.toString(STRINGIFY);
}

/** No headers at all is no key at all: it may stand beside one provider only. */
function put(document: Document, path: Path, value: unknown): boolean {
  const isNone = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  if (isNone) {
    if (document.hasIn(path)) document.deleteIn(path);
    return true;
  }
  for (let depth = 1; depth < path.length; depth += 1) {
    const above = path.slice(0, depth);
    const node = document.getIn(above, true);
    if (isCollection(node) || node === undefined) continue;
    if (document.getIn(above) !== null) return false;
    document.deleteIn(above);
  }
  document.setIn(path, typeof value === 'object' ? document.createNode(value) : value);
  return true;
}
