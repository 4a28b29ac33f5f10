/**
 * What else a conversation can begin with: model, tags, secrets, plugins.
 * Owns these fields; a value of a secret is in no text of the page.
 */
import { useCallback, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Field } from '../components/field.tsx';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';
import type { MoreDraft, SecretRow } from './more-draft.ts';

export interface StartMoreProps {
  readonly draft: MoreDraft;
  onChange(change: Partial<MoreDraft>): void;
}

export function StartMore({ draft, onChange }: StartMoreProps): ReactElement {
  const { client } = useSession();
  const askModels = useCallback((signal: AbortSignal) => client.searchModels({}, { signal }), [client]);
  const models = usePolled(askModels, null).value?.items ?? [];
  const lines = (name: 'tags' | 'plugins', label: string, hint: string): ReactElement => (
    <Field label={label} hint={hint}>
      {(ids) => (
        <textarea
          {...ids}
          className="code"
          rows={2}
          spellCheck={false}
          value={draft[name]}
          onChange={({ target }) => onChange({ [name]: target.value } as Partial<MoreDraft>)}
        />
      )}
    </Field>
  );
  return (
    <details>
      <summary>Model, tags, secrets, plugins</summary>
      <div className="stack">
        <Field label="Model">
          {(ids) => (
            <select {...ids} value={draft.model} onChange={({ target }) => onChange({ model: target.value })}>
              <option value="">By my settings</option>
              {models.map(({ id, name }) => (
                <option key={id} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        {lines('tags', 'Tags', 'One a line: key=value; keys of lower-case letters and digits.')}
        <SecretRows rows={draft.secrets} onChange={(secrets) => onChange({ secrets })} />
        {lines(
          'plugins',
          'Plugins',
          'One a line: owner/repository, @branch or @tag behind it, then a folder of it.',
        )}
      </div>
    </details>
  );
}

interface SecretRowsProps {
  readonly rows: readonly SecretRow[];
  onChange(rows: readonly SecretRow[]): void;
}

function SecretRows({ rows, onChange }: SecretRowsProps): ReactElement {
  const { client } = useSession();
  const ask = useCallback((signal: AbortSignal) => client.searchSecrets({}, { signal }), [client]);
  const stored = usePolled(ask, null).value?.items ?? [];
  const change = (at: number, part: Partial<SecretRow>): void =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)));
  return (
    <fieldset>
      <legend>Secrets</legend>
      <p className="hint">
        {stored.length === 0
          ? 'None is stored for every conversation.'
          : `Stored ones come along: ${stored.map(({ name }) => name).join(', ')}. One of the same name here counts instead.`}
      </p>
      {rows.map(({ name, value }, at) => (
        <div className="header-row" key={at}>
          <input
            aria-label={`Name of secret ${at + 1}`}
            spellCheck={false}
            autoComplete="off"
            value={name}
            onChange={({ target }) => change(at, { name: target.value })}
          />
          <input
            type="password"
            aria-label={`Value of secret ${at + 1}`}
            autoComplete="new-password"
            value={value}
            onChange={({ target }) => change(at, { value: target.value })}
          />
          <Button
            kind="quiet"
            aria-label={`Remove secret ${at + 1}`}
            onClick={() => onChange(rows.filter((_, index) => index !== at))}
          >
            Remove
          </Button>
        </div>
      ))}
      <Button onClick={() => onChange([...rows, { name: '', value: '' }])}>Add a secret</Button>
    </fieldset>
  );
}
