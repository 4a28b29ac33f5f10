/**
 * Label selectors and merge patches, as far as the runtime uses them.
 * Owns two pure functions of the wire.
 */
import type { ApiObject } from './api-object.ts';

/** `a=b,c=d`: every pair must hold. */
export function matches({ metadata }: ApiObject, selector: string | null): boolean {
  if (selector === null || selector === '') return true;
  return selector.split(',').every((pair) => {
    const [key = '', value = ''] = pair.split('=');
    return metadata.labels?.[key] === value;
  });
}

/** RFC 7386: null removes, objects are merged, all else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
