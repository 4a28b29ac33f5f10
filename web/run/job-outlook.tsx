/**
 * What a run of a job would do, cost and take, before a dollar is spent.
 * Owns the figures; they are reckoned by the server.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Notice } from '../components/notice.tsx';
import { usdOfNano } from '../text/money.ts';
import { duration } from '../text/time.ts';

type Compiled = ResultOf<'compile_job'>;
export type Outlook = NonNullable<Compiled['outlook']>;

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
        <Fact name="Conversations" is={String(count)} note={models} />
        <Fact name="At once" is={String(of.peak)} note={sandboxes(of.sandboxes_peak)} />
        <Fact name="Cost" is={costText(of)} note={costNote(of)} />
        <Fact
          name="Time"
          is={half === null ? 'not known' : duration(half)}
          note={most === null ? 'no run of this job has ended yet' : `in nine of ten cases ${duration(most)}`}
        />
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

function Fact({
  name,
  is,
  note,
}: {
  readonly name: string;
  readonly is: string;
  readonly note: string;
}): ReactElement {
  return (
    <div className="sum card">
      <dt>{name}</dt>
      <dd>
        {is}
        <small>{note}</small>
      </dd>
    </div>
  );
}
