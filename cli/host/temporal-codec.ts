/**
 * How payloads are read and written by this process, with the keys of its environment (D20).
 * Owns that a key which is missing ends the engine with a sentence: without it no worker of ours can go on.
 */
import type { DataConverter, PayloadCodec } from '@temporalio/common';
import { ParleyError } from '../../core/parley-error.ts';
import { CODEC_KEYS_VARIABLE, parseCodecKeys } from '../../temporal/codec/codec-keys.ts';
import { dataConverterOf } from '../../temporal/codec/data-converter.ts';
import type { Environment } from '../config/effective-values.ts';
import { builtProgram } from './places.ts';

/** @throws ParleyError config_invalid when the keys cannot be read */
export function converterOf(env: Environment, onFailure: (error: Error) => void): DataConverter {
  const converter = dataConverterOf({
    keys: parseCodecKeys(env[CODEC_KEYS_VARIABLE]),
    failureConverterPath: builtProgram('failure-converter.cjs'),
  });
  const codecs = converter.payloadCodecs ?? [];
  return { ...converter, payloadCodecs: codecs.map((codec) => watched(codec, onFailure)) };
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
