/**
 * What others say about an object: the OpenAPI document of Kubernetes, and the definitions of custom kinds.
 * Owns making schemas of them that know every field: an undefined one is a mistake here, as the API server warns.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { parse } from 'yaml';
import type { Manifest } from './rendered-chart.ts';

type Schema = Record<string, unknown>;

interface OpenApi {
  readonly definitions: Readonly<Record<string, Schema>>;
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

const CUSTOM = ['ExternalSecret', 'HTTPRoute', 'ServiceMonitor'];

/** What is wrong with an object, as path and message; an unknown kind is wrong as a whole. */
export function objectChecker(folder: string): (object: Manifest) => readonly string[] {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
  const { definitions } = JSON.parse(read('kubernetes.json')) as OpenApi;
  ajv.addSchema({ $id: 'kubernetes', definitions: closed(definitions) as Schema });
  /** Compiled when one is needed: there are hundreds. */
  const validators = new Map<string, () => ValidateFunction>();
  for (const [name, schema] of Object.entries(definitions)) {
    const kinds = (schema['x-kubernetes-group-version-kind'] ?? []) as readonly Record<string, string>[];
    const [one] = kinds;
    // Options of a deletion belong to every group.
    if (one === undefined || kinds.length > 1) continue;
    const { group = '', version = '', kind = '' } = one;
    const known = { $ref: `kubernetes#/definitions/${name}` };
    validators.set(`${group === '' ? '' : `${group}/`}${version} ${kind}`, () => ajv.compile(known));
  }
  for (const kind of CUSTOM) {
    const { spec } = parse(read(`${kind}.yaml`)) as Definition;
    for (const { name, schema } of spec.versions) {
      const known = closed(schema.openAPIV3Schema) as Schema;
      validators.set(`${spec.group}/${name} ${kind}`, () => ajv.compile(known));
    }
  }
  return (object) => {
    const name = `${String(object['apiVersion'])} ${object.kind}`;
    const validate = validators.get(name)?.();
    if (validate === undefined) return [`nobody knows ${name}`];
    if (validate(object) === true) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
}

/** With what Kubernetes means by its formats, and without room for a field that is not listed. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const of = schema as Schema;
  if (of['format'] === 'int-or-string' || of['x-kubernetes-int-or-string'] === true)
    return { type: ['integer', 'string'] };
  // A quantity may be written as a number.
  const isQuantity = String(of['description'] ?? '').startsWith('Quantity is a fixed-point');
  if (isQuantity) return { type: ['string', 'number'] };
  const copy = Object.fromEntries(Object.entries(of).map(([key, value]) => [key, closed(value)]));
  const isObject = of['type'] === 'object' && typeof of['properties'] === 'object';
  const isOpen =
    of['additionalProperties'] !== undefined || of['x-kubernetes-preserve-unknown-fields'] === true;
  // Metadata of a custom kind is that of all kinds.
  const hasNone = isObject && Object.keys(of['properties'] as object).length === 0;
  return isObject && !isOpen && !hasNone ? { ...copy, additionalProperties: false } : copy;
}
