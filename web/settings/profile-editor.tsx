/**
 * The fields of one profile: model, base URL and key; under Advanced Options, Extra Headers.
 * Owns reading and saving it; a stored key stays unless another one is typed.
 */
import { type ReactElement, useEffect, useState } from 'react';
import { WorkForm } from '../components/dialog.tsx';
import { Button, ChoiceField, TextField } from '../components/form.tsx';
import { NamedRows } from '../components/named-rows.tsx';
import { Notice, Problems } from '../components/parts.tsx';
import { useAction } from '../data/use-action.ts';
import { useAnswer } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';
import { type NamedRow, valuesOf } from '../start/more-draft.ts';

interface ProfileEditorProps {
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
  readonly headers: readonly NamedRow[];
}

const EMPTY: Draft = { name: '', model: '', baseUrl: '', apiKey: '', hasKey: false, headers: [] };

export function ProfileEditor({ name, onLeave }: ProfileEditorProps): ReactElement {
  const { client } = useSession();
  const [draft, setDraft] = useState<Draft | null>(name === null ? EMPTY : null);
  const reading = useAction();
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
        headers: Object.entries(config.extra_headers).map(([key, value]) => ({ name: key, value })),
      });
    });
  }, [client, name, read]);
  if (draft === null) return <Problems of={reading.problems} />;
  return (
    <WorkForm
      className="card stack"
      label={name === null ? 'New profile' : `Profile ${name}`}
      word="Save Changes"
      disabled={draft.name.trim() === ''}
      beside={<Button onClick={onLeave}>Cancel</Button>}
      work={() => client.saveProfile({ params: { profile_name: draft.name.trim() }, body: bodyOf(draft) })}
      onDone={onLeave}
    >
      <Fields draft={draft} isNew={name === null} onChange={(change) => setDraft({ ...draft, ...change })} />
    </WorkForm>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly isNew: boolean;
  onChange(change: Partial<Draft>): void;
}

function Fields({ draft, isNew, onChange }: FieldsProps): ReactElement {
  const listed = useAnswer('searchModels', {}, null).value?.items ?? [];
  const isListed = draft.model === '' || listed.some(({ id }) => id === draft.model);
  const unlisted = isListed ? [] : [[draft.model, draft.model] as const];
  return (
    <>
      <div className="columns">
        <TextField
          label="Profile name"
          hint="Letters, digits, dot, dash and underscore."
          autoFocus={isNew}
          disabled={!isNew}
          value={draft.name}
          onText={(name) => onChange({ name })}
        />
        <ChoiceField
          label="LLM Model"
          hint="As the proxy lists it."
          value={draft.model}
          choices={[
            ['', 'The proxy’s first'],
            ...unlisted,
            ...listed.map(({ id, name }) => [id, name] as const),
          ]}
          onText={(model) => onChange({ model })}
        />
      </div>
      <details open={draft.headers.length > 0}>
        <summary>Advanced Options</summary>
        <div className="stack">
          <div className="columns">
            <TextField
              label="Base URL"
              hint="Kept with the profile; sandboxes call the built-in proxy."
              type="url"
              value={draft.baseUrl}
              onText={(baseUrl) => onChange({ baseUrl })}
            />
            <TextField
              label="API Key"
              hint={draft.hasKey ? 'One is stored; typing another replaces it.' : 'Optional.'}
              type="password"
              autoComplete="off"
              value={draft.apiKey}
              onText={(apiKey) => onChange({ apiKey })}
            />
          </div>
          <NamedRows
            legend="Extra Headers"
            noun="header"
            add="Add header"
            example="x-team"
            rows={draft.headers}
            onChange={(headers) => onChange({ headers })}
          />
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
      extra_headers: valuesOf(headers),
    },
  };
}
