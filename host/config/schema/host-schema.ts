/**
 * The block `host` of `parley.yaml`: what a worker says of the machine on which its sandboxes live.
 * Owns forms and bounds; defaults are in settings.ts.
 */
import { z } from 'zod';
import {
  HOST_LABEL_PATTERN,
  HOST_LABEL_VALUE_MAX,
  HOST_NAME_PATTERN,
  HOST_STRATEGIES,
} from '../../../core/placement/choose-host.ts';
import { block, count, fitting, oneOf, text } from './schema-forms.ts';

/** A name or an address; one of version 6 in brackets. */
const RELAY_PATTERN = /^(([A-Za-z0-9._-]{1,253}|\[[0-9a-fA-F:.]{2,45}\]):[1-9][0-9]{0,4})?$/;
const SANDBOXES_MAX = 100_000;
/** Below, a worker that is merely slow would lose its host; above, sandboxes would be placed on a lost one all day. */
const LEASE_SECONDS_RANGE = [5, 3_600] as const;
/** Below, a database that pauses would end what lives; above, a batch would wait for a machine that is gone for days. */
const LOST_AFTER_SECONDS_RANGE = [5, 7 * 86_400] as const;

export const host = block(
  'The machine on which the sandboxes of this worker live. It counts where several share one database.',
  {
    name: fitting(HOST_NAME_PATTERN, 'Name of this host; without one, that of the machine.'),
    capacity: count(0, SANDBOXES_MAX, 'Sandboxes with the runtime up here; 0 stands for capacity.sandboxes.'),
    labels: z
      .record(z.string().regex(HOST_LABEL_PATTERN), z.string().max(HOST_LABEL_VALUE_MAX))
      .meta({ description: 'What this host has that others have not. "parley hosts list" shows it.' })
      .optional(),
    lease: count(
      ...LEASE_SECONDS_RANGE,
      'Seconds without a sign of life after which a host gets nothing more.',
    ),
    lost_after: count(
      ...LOST_AFTER_SECONDS_RANGE,
      'Seconds after the end of its lease until this worker gives another host up, with what lives there.',
    ),
    relay: fitting(
      RELAY_PATTERN,
      'HOST:PORT at which other processes of this deployment reach agents of sandboxes here; empty: they do not.',
    ),
    relay_listen: text('Address that is listened on for them, at the same port.'),
    placement: oneOf(HOST_STRATEGIES, 'Which host gets the next sandbox: the emptiest, or the fullest.'),
  },
);
