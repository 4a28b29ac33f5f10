/**
 * Failures with message and stack trace as a payload, so that the codec encrypts them with everything else (D20).
 * Loaded by path, in the workflow bundle and in the processes around it; must not import anything of Node.
 */
import { DefaultFailureConverter } from '@temporalio/common';

/** The SDK imports this name. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
