/**
 * What a conversation has used, by model.
 * Owns the table; reading it needs no sandbox.
 */
import { useCallback, type ReactElement } from 'react';
import { Empty } from '../components/empty.tsx';
import { Notice } from '../components/notice.tsx';
import { Table, type Column } from '../components/table.tsx';
import type { ViewProps } from '../conversation/view-props.ts';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';
import { usdOfNano } from '../text/money.ts';

const EVERY_MS = 5_000;

const COLUMNS: readonly Column[] = [
  'Model',
  { name: 'Calls', holds: 'figures' },
  { name: 'Input tokens', holds: 'figures' },
  { name: 'From cache', holds: 'figures' },
  { name: 'Output tokens', holds: 'figures' },
  { name: 'Cost', holds: 'figures' },
];

export function UsageView({ record }: ViewProps): ReactElement {
  const { client } = useSession();
  const { id } = record;
  const ask = useCallback(
    (signal: AbortSignal) => client.getConversationUsage({ params: { conversation_id: id } }, { signal }),
    [client, id],
  );
  const { value, problem } = usePolled(ask, EVERY_MS);
  const models = value?.models ?? [];
  if (models.length === 0)
    return (
      <Empty isLoading={value === null} isKnown={value !== null} problem={problem}>
        <p>The agent has called no model yet.</p>
      </Empty>
    );
  return (
    <section aria-label="Usage by model">
      {problem === null ? null : <Notice tone="bad">{problem}</Notice>}
      <div className="scroll card" tabIndex={0} role="group" aria-label="Table">
        <Table columns={COLUMNS}>
          {models.map((one) => (
            <tr key={one.model}>
              <th scope="row">{one.model}</th>
              <td className="number">
                {one.calls.toLocaleString()}
                {one.failed === 0 ? null : (
                  <span className="below">{one.failed.toLocaleString()} failed</span>
                )}
              </td>
              <td className="number">{one.prompt_tokens.toLocaleString()}</td>
              <td className="number">{one.cached_tokens.toLocaleString()}</td>
              <td className="number">{one.completion_tokens.toLocaleString()}</td>
              <td className="number">
                {usdOfNano(one.cost_nano_usd)}
                {one.unpriced === 0 ? null : (
                  <span className="below">{one.unpriced.toLocaleString()} without a price</span>
                )}
              </td>
            </tr>
          ))}
        </Table>
      </div>
    </section>
  );
}
