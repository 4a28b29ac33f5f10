/**
 * Refuses what is no letter at all before it reaches the history.
 * Owns the shape check only; whether a wish can be granted is the machine's to say.
 */
import { ApplicationFailure } from '@temporalio/workflow';
import { MALFORMED, type Letter } from './letter.ts';

/** Ids are command ids and random ones: nothing longer comes from us. */
const ID_LENGTH_MAX = 512;

/** A sync validator: it must not wait, change anything, or give anything back. */
export function refuseMalformed(letter: Letter): void {
  const { id, event } = (letter as Partial<Letter> | null) ?? {};
  if (
    typeof id === 'string' &&
    id.length > 0 &&
    id.length <= ID_LENGTH_MAX &&
    typeof event?.type === 'string'
  )
    return;
  throw ApplicationFailure.nonRetryable('Cannot take the request: it is no event with an id', MALFORMED);
}
