/**
 * What stands in clear beside a payload.
 * Owns the names and how a value is read.
 */
import type { Payload } from '@temporalio/common';

export const METADATA = {
  encoding: 'encoding',
  algorithm: 'encryption-algorithm',
  keyId: 'encryption-key-id',
} as const;

/** Null when it is not there. */
export function metadataText(payload: Payload, name: string): string | null {
  const value = payload.metadata?.[name];
  return value == null ? null : Buffer.from(value).toString('utf8');
}

export function encodingOf(payload: Payload): string | null {
  return metadataText(payload, METADATA.encoding);
}
