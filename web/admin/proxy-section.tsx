/**
 * What the built-in proxy sends on: LLM Provider, Custom LLM Extra HTTP Headers, forwarding of client headers.
 * Owns the fields; fixed headers stand beside the provider Custom LLM only (spec "Recipes", 3).
 */
import { type ReactElement, useState } from 'react';
import { Check, ChoiceField, CodeField } from '../components/form.tsx';
import { useSession } from '../session/session.ts';
import { PROVIDER_LABELS } from '../text/words.ts';
import { type Configuration, DeployForm, type SectionProps } from './deployed.tsx';
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
  const deploy = async (): Promise<void> => {
    const isSent = draft.hasHeaders && draft.provider === CUSTOM;
    const fields = {
      llm_provider: draft.provider,
      custom_llm_extra_headers: isSent ? parsedHeaders(draft.headers) : {},
      forward_client_headers_to_llm_api: draft.forwards,
    };
    onDeployed(await client.updateConfiguration({ body: { fields, revision: configuration.revision } }));
  };
  return (
    <DeployForm id="model-proxy" title="Model proxy" deploy={deploy}>
      <ProxyFields draft={draft} onChange={(change) => setDraft({ ...draft, ...change })} />
    </DeployForm>
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
      <ChoiceField
        label="LLM Provider"
        hint="Headers for every call exist with Custom LLM only."
        value={draft.provider}
        choices={Object.entries(PROVIDER_LABELS)}
        onText={(provider) => onChange({ provider })}
      />
      <Check
        label="Custom LLM Extra HTTP Headers"
        hint="The same headers on every request of every user. They stand in plain text in the configuration."
        checked={isCustom && draft.hasHeaders}
        disabled={!isCustom}
        onChange={(hasHeaders) => onChange({ hasHeaders })}
      />
      {isCustom && draft.hasHeaders ? (
        <CodeField
          label="Headers as a JSON object"
          rows={4}
          value={draft.headers}
          onText={(headers) => onChange({ headers })}
        />
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
