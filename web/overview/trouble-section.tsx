/**
 * What goes wrong now or went wrong lately.
 * Owns the words for each kind; what it is about is a link.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { TimeOfDay, When } from '../components/parts.tsx';
import { type Column, head, text } from '../components/table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { Listing } from '../lists/listing.tsx';
import { Link } from '../routing/link.tsx';
import { parsedInstant } from '../text/time.ts';

type Trouble = ResultOf<'list_trouble'>['items'][number];

const EVERY_MS = 5_000;

const KINDS: Readonly<Record<Trouble['kind'], string>> = {
  retrying: 'Tried again',
  failed_start: 'Start failed',
  failed_sandbox: 'Sandbox lost',
  held_run: 'Run is held',
  failed_last_step: 'Message not taken',
  lost_spend: 'Spend rows lost',
};

const COLUMNS: readonly Column<Trouble>[] = [
  head('What', ({ kind }) => KINDS[kind]),
  text('About', (row) => <About of={row} />),
  text(
    'Why',
    (row) => (
      <>
        {row.text}
        {row.tries === null ? null : <Tries tries={row.tries} nextAt={row.next_at} />}
      </>
    ),
    'wrap',
  ),
  text('Since', ({ at }) => <When at={at} />),
];

export function TroubleSection(): ReactElement {
  return (
    <section className="stack" aria-labelledby="trouble">
      <h2 id="trouble">Trouble</h2>
      <Listing
        label="Trouble"
        polled={useAnswer('listTrouble', {}, EVERY_MS)}
        empty={<p>Nothing goes wrong, and nothing did in the last seven days.</p>}
        columns={COLUMNS}
        keyOf={({ kind, id, text: why }) => `${kind} ${id ?? ''} ${why}`}
      />
    </section>
  );
}

function Tries({ tries, nextAt }: { readonly tries: number; readonly nextAt: string | null }): ReactElement {
  return (
    <span className="below">
      {tries} {tries === 1 ? 'try' : 'tries'}
      {nextAt === null ? null : (
        <span>
          next at <TimeOfDay at={parsedInstant(nextAt)} />
        </span>
      )}
    </span>
  );
}

function About({ of: { about, id, title } }: { readonly of: Trouble }): ReactElement {
  const name = title ?? id ?? '—';
  if (id === null) return <span>{name}</span>;
  switch (about) {
    case 'run':
      return <Link to={{ page: 'run', id }}>{name}</Link>;
    case 'conversation':
      return <Link to={{ page: 'conversation', id }}>{name}</Link>;
    case 'sandbox':
    case 'spend':
      return <code title={id}>{name}</code>;
  }
}
