/**
 * Names and labels of hosts as a job writes them.
 * Owns their patterns; whether there is such a host is seen when it is chosen.
 */
import { HOST_LABEL_VALUE_MAX, HOST_NAME_PATTERN } from '../../core/placement/choose-host.ts';
import { rule } from './text-rule.ts';

/** As in `host.labels` of a deployment. */
export const HOST_LABEL_VALUE = rule({
  code: 'JOB208',
  pattern: new RegExp(`^[^\\p{Cc}]{0,${HOST_LABEL_VALUE_MAX}}$`, 'u'),
  what: 'a value of a label of a host',
  remedy: `write one line of at most ${HOST_LABEL_VALUE_MAX} characters`,
});
/** As `host.name` of a deployment. */
export const HOST_NAME = rule({
  code: 'JOB208',
  pattern: HOST_NAME_PATTERN,
  what: 'a name of a host',
  remedy: 'use 1 to 63 letters, digits and . _ -, starting with a letter or digit; "parley hosts list" has the names',
});
