/**
 * How values become payloads, the same for a client and a worker; two that differ cannot read each other.
 * Owns the choice; must not read the environment.
 */
import type { DataConverter } from '@temporalio/common';
import type { CodecKeys } from './codec-keys.ts';
import { payloadCodecOf } from './payload-codec.ts';

export interface DataConverterParts {
  /** Null encrypts nothing. */
  readonly keys: CodecKeys | null;
  /**
   * Absolute path of the built `failure-converter.cjs`, loaded with `require`. The workflow bundle must be made with the
   * same module, else failures made inside a workflow keep their message in clear.
   */
  readonly failureConverterPath: string;
}

/** For `Client` and `Worker`; the workflow bundle takes the failure converter alone, as no codec runs inside it. */
export function dataConverterOf({ keys, failureConverterPath }: DataConverterParts): DataConverter {
  return { failureConverterPath, payloadCodecs: [payloadCodecOf(keys)] };
}
