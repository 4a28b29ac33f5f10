/**
 * The model of a profile, out of those that the proxy lists.
 * Owns the list; a model that is not on it any more stays chosen until another one is.
 */
import { useCallback, type ReactElement } from 'react';
import { Field } from '../components/field.tsx';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';

export interface ModelFieldProps {
  readonly value: string;
  onChange(model: string): void;
}

export function ModelField({ value, onChange }: ModelFieldProps): ReactElement {
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
