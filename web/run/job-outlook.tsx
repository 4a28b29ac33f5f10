/**
 * What a run of a job would do, cost and take, before a dollar is spent.
 * Owns the figures; they are reckoned by the server.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Notice, Sum, Badge } from '../components/parts.tsx';
import { usdOfNano } from '../text/money.ts';
import { duration } from '../text/time.ts';
type Outlook = NonNullable<ResultOf<'compile_job'>['outlook']>;

export function JobOutlook({ of }: { readonly of: Outlook }): ReactElement {
  const count = Object.values(of.models).reduce((sum, one) => sum + one, 0);
  const models = Object.entries(of.models)
    .map(([name, one]) => `${name} ${one}`)
    .join(', ');
  const { time_p50_ms: half, time_p90_ms: most } = of;
  return (
    <section aria-label="Plan" className="stack">
      <h2>Plan</h2>
      <dl className="sums">
        <Sum name="Conversations" note={models}>
          {count}
        </Sum>
        <Sum name="At once" note={sandboxes(of.sandboxes_peak)}>
          {of.peak}
        </Sum>
        <Sum name="Cost" note={costNote(of)}>
          {costText(of)}
        </Sum>
        <Sum
          name="Time"
          note={most === null ? 'no run of this job has ended yet' : `in nine of ten cases ${duration(most)}`}
        >
          {half === null ? 'not known' : duration(half)}
        </Sum>
      </dl>
      {of.limits.map((sentence) => (
        <Notice key={sentence} tone="calm">
          {sentence}
        </Notice>
      ))}
    </section>
  );
}

/** In a few words, for the button too. */
export function costText({ cost_max_nano_usd: max, budget_nano_usd: budget }: Outlook): string {
  const bounds = [max, budget].filter((one) => one !== null);
  return bounds.length === 0 ? 'no limit' : `at most ${usdOfNano(Math.min(...bounds))}`;
}

function costNote({ cost_p50_nano_usd: half, cost_p90_nano_usd: most }: Outlook): string {
  if (half === null || most === null) return 'no run of this job has ended yet';
  return `${usdOfNano(half)} as the last run, in nine of ten cases ${usdOfNano(most)}`;
}

function sandboxes(peak: number | null): string {
  return peak === null ? '' : `sandboxes at most ${peak}`;
}

/** What the compiler says of a job, as a list under the editor. */
export function JobFindings({ of }: { readonly of: ResultOf<'compile_job'>['findings'] }): ReactElement {
  return (
    <section aria-label="Findings" aria-live="polite">
      {of.length === 0 ? (
        <p className="quiet">The compiler has nothing to say against it.</p>
      ) : (
        <ul className="findings card">
          {of.map(({ code, severity, message, remedy, line, column }) => (
            <li key={`${code} ${line} ${column} ${message}`}>
              <Badge word={severity} note={code} />
              <span className="wrap">
                Line {line}, column {column}: {message}
                {remedy === null ? '' : ` — ${remedy}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
