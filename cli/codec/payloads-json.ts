/**
 * Payloads as the JSON of Temporal's remote codec: `{"payloads": [{"metadata": {name: base64}, "data": base64}]}`.
 * Owns the form in both directions; must not decrypt.
 */
import type { Payload } from '@temporalio/common';
import { z } from 'zod';

const payloadSchema = z.object({
  metadata: z.record(z.string(), z.base64()).optional(),
  data: z.base64().optional(),
});

/** Fields it does not name are left out of the answer, as by any reader of this format. */
export const payloadsSchema = z.object({ payloads: z.array(payloadSchema).optional() });
export type PayloadsJson = z.infer<typeof payloadsSchema>;

export function payloadsFromJson({ payloads }: PayloadsJson): Payload[] {
  return (payloads ?? []).map(({ metadata, data }) => ({
    metadata: mapValues(metadata ?? {}, (value) => Buffer.from(value, 'base64')),
    data: Buffer.from(data ?? '', 'base64'),
  }));
}

export function payloadsToJson(payloads: readonly Payload[]): PayloadsJson {
  return {
    payloads: payloads.map(({ metadata, data }) => ({
      metadata: mapValues(metadata ?? {}, base64),
      data: base64(data ?? new Uint8Array(0)),
    })),
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
