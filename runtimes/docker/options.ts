/**
 * What the deployment sets of the Docker runtime.
 * Owns the shape; the checks are beside the code that needs them.
 */
import type { HostRuntimeOptions } from '../on-host/options.ts';

/** Stands for the image that is made of this host's own programs. */
export const HOST_IMAGE = 'host';

export interface DockerRuntimeOptions extends HostRuntimeOptions {
  readonly daemonSocket: string;
  /** `host`, or an image by digest: `NAME@sha256:…` or `sha256:…`; it must have `sh` and `node`. */
  readonly image: string;
}
