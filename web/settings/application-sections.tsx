/**
 * What conversations of a user begin with: placement, how agents work, the author of commits; and the limits to read.
 * Owns the fields; saving is the page's.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Check, ChoiceField, TextField } from '../components/form.tsx';
import { duration } from '../text/time.ts';
import { GROUPING_HINTS, GROUPING_LABELS } from '../text/words.ts';

type AgentSettings = ResultOf<'get_settings'>['conversation_settings'];

const ITERATIONS_MAX = 100_000;

interface AgentSectionProps {
  readonly value: AgentSettings;
  onChange(value: AgentSettings): void;
}

/** Steps of an agent, and what it asks about. */
export function AgentSection({ value, onChange }: AgentSectionProps): ReactElement {
  const set = (change: Partial<AgentSettings>): void => onChange({ ...value, ...change });
  return (
    <section className="card stack" aria-labelledby="agent">
      <h2 id="agent">Agent</h2>
      <TextField
        label="Max Iterations"
        hint="Steps of one agent, at most."
        type="number"
        min={1}
        max={ITERATIONS_MAX}
        value={value.max_iterations}
        onText={(text) => set({ max_iterations: Number(text) || 1 })}
      />
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

interface GitAuthor {
  readonly git_user_name: string;
  readonly git_user_email: string;
}

interface GitSectionProps {
  readonly value: GitAuthor;
  onChange(change: Partial<GitAuthor>): void;
}

/** The author of commits, apart from any credential (D19). */
export function GitSection({ value, onChange }: GitSectionProps): ReactElement {
  return (
    <section className="card stack" aria-labelledby="git">
      <h2 id="git">Git</h2>
      <div className="columns">
        <TextField
          label="Git Author Name"
          required
          value={value.git_user_name}
          onText={(git_user_name) => onChange({ git_user_name })}
        />
        <TextField
          label="Git Author Email"
          type="email"
          required
          value={value.git_user_email}
          onText={(git_user_email) => onChange({ git_user_email })}
        />
      </div>
    </section>
  );
}

type Strategy = keyof typeof GROUPING_LABELS;

interface GroupingFieldProps {
  readonly value: Strategy;
  onChange(strategy: Strategy): void;
}

/** The field Sandbox Grouping Strategy (spec "Placement"). */
export function GroupingField({ value, onChange }: GroupingFieldProps): ReactElement {
  return (
    <ChoiceField
      label="Sandbox Grouping Strategy"
      hint={`${GROUPING_HINTS[value]} A sandbox that is named at the start wins over this.`}
      value={value}
      choices={Object.entries(GROUPING_LABELS)}
      onText={(strategy) => onChange(strategy as Strategy)}
    />
  );
}

type Limits = ResultOf<'get_settings'>['limits'];

/** The limits of the deployment, to read; they are set on the admin page. */
export function LimitFacts({ limits }: { readonly limits: Limits }): ReactElement {
  const time = (seconds: number | null): string => (seconds === null ? 'never' : duration(seconds * 1_000));
  const facts = [
    ['Idle Time', time(limits.idle_time)],
    ['Deletion Time', time(limits.deletion_time)],
    ['Sandboxes at once', `${limits.sandboxes_per_user} of ${limits.sandboxes}`],
    ['Conversations in one', limits.conversations_per_sandbox],
  ] as const;
  return (
    <dl className="limit-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
