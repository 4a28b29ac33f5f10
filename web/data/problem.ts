/**
 * What went wrong with a call, as sentences for a person.
 * Owns the reading of an error; must not decide what follows from it.
 */
import { ClientError } from '../../api/client/client.ts';

const UNREACHABLE = 'The service cannot be reached.';
/** How browsers say that no answer came; any other type error is a mistake of the console itself. */
const NETWORK = /fetch|network|load failed/i;

export function sentenceOf(error: unknown): string {
  return sentencesOf(error).join(' ');
}

/** One for each finding of a validation. */
export function sentencesOf(error: unknown): readonly string[] {
  if (error instanceof ClientError) {
    if (error.status === 401) return ['This key is not accepted. It may be mistyped, expired or revoked.'];
    const { detail } = error;
    if (Array.isArray(detail)) return detail.map((one: unknown) => findingText(one));
    return [ended(typeof detail === 'string' ? detail : error.message)];
  }
  if (isUnreachable(error)) return [UNREACHABLE];
  return [ended(error instanceof Error ? error.message : String(error))];
}

/** Whether no service answered at all; what it says itself is another thing. */
export function isUnreachable(error: unknown): boolean {
  // What stands before a service that is gone has no code of ours.
  if (error instanceof ClientError)
    return error.code === null && (error.status === 502 || error.status === 504);
  return error instanceof TypeError && NETWORK.test(error.message);
}

/** Whether the key itself was refused. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ClientError && error.status === 401;
}

function findingText(finding: unknown): string {
  const { loc = [], msg = '' } = finding as { readonly loc?: readonly unknown[]; readonly msg?: string };
  const [, field = '', line, column] = loc;
  const place =
    typeof line === 'number'
      ? `Line ${line}, column ${String(column)}: `
      : field === ''
        ? ''
        : `${String(loc.at(-1))}: `;
  return ended(`${place}${msg}`);
}

function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
