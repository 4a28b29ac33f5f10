/**
 * The fields of one profile: model, base URL and key; under Advanced Options, Extra Headers.
 * Owns reading and saving it; a stored key stays unless another one is typed.
 */
import { type FormEvent, type ReactElement, useCallback, useEffect, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Field } from '../components/field.tsx';
import { Notice, Problems } from '../components/notice.tsx';
import { useAction } from '../data/use-action.ts';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';
import { headersOf, HeaderRows, rowsOf, type HeaderRow } from './header-rows.tsx';

export interface ProfileEditorProps {
  /** Null for a new one. */
  readonly name: string | null;
  onLeave(): void;
}

interface Draft {
  readonly name: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly hasKey: boolean;
  readonly headers: readonly HeaderRow[];
}

const EMPTY: Draft = { name: '', model: '', baseUrl: '', apiKey: '', hasKey: false, headers: [] };

export function ProfileEditor({ name, onLeave }: ProfileEditorProps): ReactElement {
  const { client } = useSession();
  const [draft, setDraft] = useState<Draft | null>(name === null ? EMPTY : null);
  const reading = useAction();
  const saving = useAction();
  const { run: read } = reading;
  useEffect(() => {
    if (name === null) return;
    void read(async () => {
      const { config, api_key_set: hasKey } = await client.getProfile({ params: { profile_name: name } });
      setDraft({
        ...EMPTY,
        ...{ name, hasKey },
        model: config.model ?? '',
        baseUrl: config.base_url ?? '',
        headers: rowsOf(config.extra_headers),
      });
    });
  }, [client, name, read]);
  if (draft === null) return <Problems of={reading.problems} />;
  const save = async (): Promise<void> => {
    const isDone = await saving.run(async () => {
      await client.saveProfile({ params: { profile_name: draft.name.trim() }, body: bodyOf(draft) });
    });
    if (isDone) onLeave();
  };
  return (
    <form
      className="card stack"
      aria-label={name === null ? 'New profile' : `Profile ${name}`}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        void save();
      }}
    >
      <Fields draft={draft} isNew={name === null} onChange={(change) => setDraft({ ...draft, ...change })} />
      <Problems of={saving.problems} />
      <div className="form-actions">
        <Button onClick={onLeave}>Cancel</Button>
        <Button kind="primary" type="submit" busy={saving.isBusy} disabled={draft.name.trim() === ''}>
          Save Changes
        </Button>
      </div>
    </form>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly isNew: boolean;
  onChange(change: Partial<Draft>): void;
}

function Fields({ draft, isNew, onChange }: FieldsProps): ReactElement {
  return (
    <>
      <div className="columns">
        <Field label="Profile name" hint="Letters, digits, dot, dash and underscore.">
          {(ids) => (
            <input
              {...ids}
              autoFocus={isNew}
              disabled={!isNew}
              value={draft.name}
              onChange={(event) => onChange({ name: event.target.value })}
            />
          )}
        </Field>
        <ModelField value={draft.model} onChange={(model) => onChange({ model })} />
      </div>
      <details open={draft.headers.length > 0}>
        <summary>Advanced Options</summary>
        <div className="stack">
          <div className="columns">
            <Field label="Base URL" hint="Kept with the profile; sandboxes call the built-in proxy.">
              {(ids) => (
                <input
                  {...ids}
                  type="url"
                  value={draft.baseUrl}
                  onChange={(event) => onChange({ baseUrl: event.target.value })}
                />
              )}
            </Field>
            <Field
              label="API Key"
              hint={draft.hasKey ? 'One is stored; typing another replaces it.' : 'Optional.'}
            >
              {(ids) => (
                <input
                  {...ids}
                  type="password"
                  autoComplete="off"
                  value={draft.apiKey}
                  onChange={(event) => onChange({ apiKey: event.target.value })}
                />
              )}
            </Field>
          </div>
          <HeaderRows rows={draft.headers} onChange={(headers) => onChange({ headers })} />
          <Notice tone="calm">
            Extra headers reach the gateway when forwarding of client headers is enabled on the admin page.
          </Notice>
        </div>
      </details>
    </>
  );
}

function bodyOf({ model, baseUrl, apiKey, headers }: Draft) {
  return {
    preserve_existing_api_key: apiKey === '',
    llm: {
      ...(model === '' ? {} : { model }),
      ...(baseUrl === '' ? {} : { base_url: baseUrl }),
      ...(apiKey === '' ? {} : { api_key: apiKey }),
      extra_headers: headersOf(headers),
    },
  };
}

/** The model of a profile, out of those that the proxy lists. */
interface ModelFieldProps {
  readonly value: string;
  onChange(model: string): void;
}

function ModelField({ value, onChange }: ModelFieldProps): ReactElement {
  const { client } = useSession();
  const ask = useCallback((signal: AbortSignal) => client.searchModels({}, { signal }), [client]);
  const listed = usePolled(ask, null).value?.items ?? [];
  const isListed = value === '' || listed.some(({ id }) => id === value);
  return (
    <Field label="LLM Model" hint="As the proxy lists it.">
      {(ids) => (
        <select {...ids} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">The proxy’s first</option>
          {isListed ? null : <option value={value}>{value}</option>}
          {listed.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
