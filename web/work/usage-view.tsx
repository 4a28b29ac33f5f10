/**
 * What a conversation has used, by model.
 * Owns the table; reading it needs no sandbox.
 */
import type { ReactElement } from 'react';
import { Loaded } from '../components/parts.tsx';
import { figures, Table } from '../components/table.tsx';
import type { ViewProps } from '../conversation/conversation-table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { usdOfNano } from '../text/money.ts';

const EVERY_MS = 5_000;

const COLUMNS = ['Model', ...['Calls', 'Input tokens', 'From cache', 'Output tokens', 'Cost'].map(figures)];

export function UsageView({ record }: ViewProps): ReactElement {
  const usage = useAnswer('getConversationUsage', { params: { conversation_id: record.id } }, EVERY_MS);
  return (
    <Loaded
      of={usage}
      isEmpty={({ models }) => models.length === 0}
      none={<p>The agent has called no model yet.</p>}
    >
      {({ models }) => (
        <section aria-label="Usage by model">
          <Table label="Table" columns={COLUMNS}>
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
        </section>
      )}
    </Loaded>
  );
}
