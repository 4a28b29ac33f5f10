/**
 * The host that a client requests, as it comes over the wire.
 * Owns forms and bounds, and that it is refused at once where sandboxes live on no host; whether that host is there is
 * seen where it is chosen.
 */
import { z } from 'zod';
import {
  describePin,
  HOST_LABEL_PATTERN,
  HOST_LABEL_VALUE_MAX,
  HOST_LABELS_MAX,
  HOST_NAME_PATTERN,
  NO_HOSTS,
  type HostPin,
} from '../../core/placement/choose-host.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Deployment } from '../../ports/deployment.ts';

export const hostNameIn = z
  .string()
  .regex(HOST_NAME_PATTERN, 'Input should be a name of a host')
  .meta({ examples: ['gpu-1'] });

export const hostLabelsIn = z
  .record(
    z.string().regex(HOST_LABEL_PATTERN, 'Keys are names of labels of a host'),
    z
      .string()
      .max(HOST_LABEL_VALUE_MAX)
      .regex(/^[ -~\u00a0-\ud7ff\ue000-\uffff]*$/),
  )
  .refine((labels) => Object.keys(labels).length <= HOST_LABELS_MAX, `At most ${HOST_LABELS_MAX} labels`)
  .meta({ maxProperties: HOST_LABELS_MAX, examples: [{ gpu: 'a100' }] });

/** @throws ParleyError placement_failed: it would never begin */
export function requireHosts({ capacity }: Deployment, pin: HostPin | undefined): void {
  if (pin === undefined || capacity.hosts !== undefined) return;
  throw new ParleyError('placement_failed', `Cannot start on ${describePin(pin)}: ${NO_HOSTS}`, {
    remedy: 'leave it out; docs/hosts.md says what hosts take',
  });
}
