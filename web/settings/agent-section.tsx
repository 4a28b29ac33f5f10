/**
 * How agents of new conversations work: steps, and what they ask about.
 * Owns the fields; saving is the page's.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Check } from '../components/check.tsx';
import { Field } from '../components/field.tsx';

export type AgentSettings = ResultOf<'get_settings'>['conversation_settings'];

const ITERATIONS_MAX = 100_000;

export interface AgentSectionProps {
  readonly value: AgentSettings;
  onChange(value: AgentSettings): void;
}

export function AgentSection({ value, onChange }: AgentSectionProps): ReactElement {
  const set = (change: Partial<AgentSettings>): void => onChange({ ...value, ...change });
  return (
    <section className="card stack" aria-labelledby="agent">
      <h2 id="agent">Agent</h2>
      <Field label="Max Iterations" hint="Steps of one agent, at most.">
        {(ids) => (
          <input
            {...ids}
            type="number"
            min={1}
            max={ITERATIONS_MAX}
            value={value.max_iterations}
            onChange={(event) => set({ max_iterations: event.target.valueAsNumber || 1 })}
          />
        )}
      </Field>
      <Check
        label="Confirmation Mode"
        hint="The agent asks before it acts."
        checked={value.confirmation_mode}
        onChange={(isOn) => set({ confirmation_mode: isOn })}
      />
      <Check
        label="Only actions of high risk"
        hint="The model says how risky each action is."
        checked={value.security_analyzer === 'llm'}
        disabled={!value.confirmation_mode}
        onChange={(isLlm) => set({ security_analyzer: isLlm ? 'llm' : null })}
      />
    </section>
  );
}
