/**
 * The names that a user may have meant: of conversations, of runs.
 * Owns which are near; must not read anything.
 */
import { nearestName } from '../../dsl/check/nearest-name.ts';
import { CliError } from '../../host/cli-error.ts';

/** More are a list, and there is a command for it. */
const SHOWN_MAX = 3;

/** Those that the text is a part of, else the one that is a slip away; as they stand in `known`. */
export function nearNames(text: string, known: readonly string[]): readonly string[] {
  const wanted = text.toLowerCase();
  const holding = wanted === '' ? [] : known.filter((name) => name.toLowerCase().includes(wanted));
  if (holding.length > 0) return holding.slice(0, SHOWN_MAX);
  const nearest = nearestName(text, known);
  return nearest === null ? [] : [nearest];
}

/** What a command says that was given a key of no conversation; `list` says where keys are listed. */
export function noSuchKey(
  key: string,
  known: readonly string[],
  { list, doing = 'find the conversation' }: { readonly list: string; readonly doing?: string },
): CliError {
  const near = nearestName(key, known);
  return new CliError(`Cannot ${doing} "${key}": the run has no such key`, {
    remedy: near === null ? `list them with "${list}"` : `did you mean "${near}"?`,
  });
}
