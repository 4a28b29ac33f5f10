/**
 * What else a conversation can begin with, as it is written down: model, tags, secrets, plugins.
 * Owns its way into the request; what cannot be is refused by the API, with the reason.
 */
import type { InputOf } from '../../api/client/client.ts';
import { parsedTags } from '../text/tags.ts';

/** A header or a secret, as it is written down. */
export interface NamedRow {
  readonly name: string;
  readonly value: string;
}

export interface MoreDraft {
  readonly model: string;
  /** One a line. */
  readonly tags: string;
  /** One a line. */
  readonly plugins: string;
  readonly secrets: readonly NamedRow[];
}

export const NO_MORE: MoreDraft = { model: '', tags: '', plugins: '', secrets: [] };

export type StartBody = NonNullable<InputOf<'start_app_conversation'>['body']>;

export function moreOf({ model, tags, plugins, secrets }: MoreDraft): StartBody {
  const named = valuesOf(secrets);
  const lines = plugins.split('\n').filter((line) => line.trim() !== '');
  return {
    ...(model === '' ? {} : { llm_model: model }),
    ...(tags.trim() === '' ? {} : { tags: parsedTags(tags) }),
    ...(lines.length === 0 ? {} : { plugins: lines.map(pluginOf) }),
    ...(Object.keys(named).length === 0 ? {} : { secrets: named }),
  };
}

/** `owner/repository@ref folder`; what cannot be one is refused by the API, with the reason. */
function pluginOf(line: string) {
  const [place = '', folder] = line.trim().split(/\s+/);
  const at = place.indexOf('@');
  return {
    source: at === -1 ? place : place.slice(0, at),
    ...(at === -1 ? {} : { ref: place.slice(at + 1) }),
    ...(folder === undefined ? {} : { repo_path: folder }),
  };
}

/** Rows without a name are none. */
export function valuesOf(rows: readonly NamedRow[]): Record<string, string> {
  const named = rows.filter(({ name }) => name.trim() !== '');
  return Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
}
