/**
 * How payloads are read and written by this process: sealed by the keys of its environment, or else by one that is
 * made of the seal key, which every process of a deployment has (D20).
 * Owns the choice of keys, and that one which is missing ends the engine with a sentence: without it no worker of ours
 * can go on.
 */
import { createSecretKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { DataConverter, PayloadCodec } from '@temporalio/common';
import { ParleyError } from '../../core/parley-error.ts';
import { deriveKey, loadSealKey, type SealKey } from '../../store/access/seal-key.ts';
import {
  CODEC_KEYS_VARIABLE,
  parseCodecKeys,
  type CodecKey,
  type CodecKeys,
} from '../../temporal/codec/codec-keys.ts';
import { dataConverterOf } from '../../temporal/codec/data-converter.ts';
import type { Environment } from '../config/effective-values.ts';
import { builtProgram, placesOf } from '../sandboxes/places.ts';

/** Where the keys for payloads come from. */
export interface KeySource {
  readonly env: Environment;
  /** Null where there is none yet: a command that only reads makes none. */
  readonly sealKey: SealKey | null;
}

/** @throws ParleyError config_invalid when the keys cannot be read */
export function converterOf(source: KeySource, onFailure: (error: Error) => void): DataConverter {
  const converter = dataConverterOf({
    keys: codecKeysOf(source),
    failureConverterPath: builtProgram('failure-converter.cjs'),
  });
  const codecs = converter.payloadCodecs ?? [];
  return { ...converter, payloadCodecs: codecs.map((codec) => watched(codec, onFailure)) };
}

/**
 * Those of the environment come first; what the key of the seal has sealed before they came stays readable. Null where
 * there are none of either.
 * @throws ParleyError config_invalid when the keys cannot be read
 */
export function codecKeysOf({ env, sealKey }: KeySource): CodecKeys | null {
  const given = parseCodecKeys(env[CODEC_KEYS_VARIABLE]);
  if (sealKey === null) return given;
  const own = codecKeyOf(sealKey);
  const keys = [...(given?.byId.values() ?? []), own];
  return { current: given?.current ?? own, byId: new Map(keys.map((key) => [key.id, key])) };
}

/** The id names the seal key it was made of, and reveals nothing of it. */
function codecKeyOf(sealKey: SealKey): CodecKey {
  return { id: `seal-${sealKey.id}`, key: createSecretKey(deriveKey(sealKey, 'temporal-codec')) };
}

/** The seal key of a deployment as it is, for a command that reads. @throws ParleyError config_invalid */
export function knownSealKey(env: Environment, dataDir: string): SealKey | null {
  const { sealKeyFile: path } = placesOf(dataDir);
  const given = env['PARLEY_SEAL_KEY'];
  if ((given === undefined || given === '') && !existsSync(path)) return null;
  return loadSealKey({ env: given, path });
}

function watched(codec: PayloadCodec, onFailure: (error: Error) => void): PayloadCodec {
  return {
    encode: (payloads) => codec.encode(payloads),
    async decode(payloads) {
      try {
        return await codec.decode(payloads);
      } catch (error) {
        if (error instanceof ParleyError && error.code === 'codec_key_missing') onFailure(error);
        throw error;
      }
    },
  };
}
