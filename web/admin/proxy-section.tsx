/**
 * What the built-in proxy sends on: LLM Provider, Custom LLM Extra HTTP Headers, forwarding of client headers.
 * Owns the fields; fixed headers stand beside the provider Custom LLM only (spec "Recipes", 3).
 */
import { useState, type FormEvent, type ReactElement } from 'react';
import { Button } from '../components/button.tsx';
import { Check } from '../components/check.tsx';
import { Field } from '../components/field.tsx';
import { Problems } from '../components/notice.tsx';
import { useAction } from '../data/use-action.ts';
import { useSession } from '../session/session.ts';
import { PROVIDER_LABELS } from '../text/words.ts';
import type { Configuration, SectionProps } from './deployed.tsx';
import { parsedHeaders } from './parsed-headers.ts';

const CUSTOM = 'custom';

interface Draft {
  readonly provider: string;
  readonly hasHeaders: boolean;
  readonly headers: string;
  readonly forwards: boolean;
}

export function ProxySection({ configuration, onDeployed }: SectionProps): ReactElement {
  const { client } = useSession();
  const [draft, setDraft] = useState(() => draftOf(configuration));
  const action = useAction();
  const deploy = (event: FormEvent): void => {
    event.preventDefault();
    void action.run(async () => {
      const isSent = draft.hasHeaders && draft.provider === CUSTOM;
      const fields = {
        llm_provider: draft.provider,
        custom_llm_extra_headers: isSent ? parsedHeaders(draft.headers) : {},
        forward_client_headers_to_llm_api: draft.forwards,
      };
      onDeployed(await client.updateConfiguration({ body: { fields, revision: configuration.revision } }));
    });
  };
  return (
    <form className="card stack" aria-labelledby="model-proxy" onSubmit={deploy}>
      <h2 id="model-proxy">Model proxy</h2>
      <ProxyFields draft={draft} onChange={(change) => setDraft({ ...draft, ...change })} />
      <Problems of={action.problems} />
      <div className="form-actions">
        <Button kind="primary" type="submit" busy={action.isBusy}>
          Save and deploy
        </Button>
      </div>
    </form>
  );
}

interface ProxyFieldsProps {
  readonly draft: Draft;
  onChange(change: Partial<Draft>): void;
}

function ProxyFields({ draft, onChange }: ProxyFieldsProps): ReactElement {
  const isCustom = draft.provider === CUSTOM;
  return (
    <>
      <Field label="LLM Provider" hint="Headers for every call exist with Custom LLM only.">
        {(ids) => (
          <select
            {...ids}
            value={draft.provider}
            onChange={(event) => onChange({ provider: event.target.value })}
          >
            {Object.entries(PROVIDER_LABELS).map(([word, label]) => (
              <option key={word} value={word}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Check
        label="Custom LLM Extra HTTP Headers"
        hint="The same headers on every request of every user. They stand in plain text in the configuration."
        checked={isCustom && draft.hasHeaders}
        disabled={!isCustom}
        onChange={(hasHeaders) => onChange({ hasHeaders })}
      />
      {isCustom && draft.hasHeaders ? (
        <Field label="Headers as a JSON object">
          {(ids) => (
            <textarea
              {...ids}
              className="code"
              rows={4}
              spellCheck={false}
              value={draft.headers}
              onChange={(event) => onChange({ headers: event.target.value })}
            />
          )}
        </Field>
      ) : null}
      <details open={draft.forwards}>
        <summary>Advanced Options</summary>
        <Check
          label="Enable Forwarding Client Headers Through the service to LLM Providers"
          hint="Headers that begin with x- and anthropic- reach the gateway, those of profiles among them."
          checked={draft.forwards}
          onChange={(forwards) => onChange({ forwards })}
        />
      </details>
    </>
  );
}

function draftOf({ fields }: Configuration): Draft {
  const { custom_llm_extra_headers: headers } = fields;
  return {
    provider: fields.llm_provider,
    hasHeaders: Object.keys(headers).length > 0,
    headers: JSON.stringify(headers, null, 2),
    forwards: fields.forward_client_headers_to_llm_api,
  };
}
