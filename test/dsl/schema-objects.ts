/**
 * The objects of a JSON Schema, and the check that none of them takes a key that it does not list.
 * Owns the walk that the tests of both schemas share; must not know what a schema describes.
 */
import { expect } from 'vitest';

/** Every object in it at any depth, itself first. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (typeof value !== 'object' || value === null) return [];
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(objectsIn)];
}

/** More than `countMin` objects are described, and each says what becomes of a key that it does not list: refused. */
export function expectClosed(schema: unknown, countMin: number): void {
  const objects = objectsIn(schema).filter((part) => part['type'] === 'object');
  expect(objects.length).toBeGreaterThan(countMin);
  for (const part of objects) expect(part).toHaveProperty('additionalProperties');
  for (const part of objects.filter((each) => each['properties'] !== undefined))
    expect(part['additionalProperties']).toBe(false);
}
