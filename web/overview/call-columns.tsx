/**
 * Calls of models as columns of a table.
 * Owns what stands below a figure: calls that failed, and calls without a price.
 */
import type { ResultOf } from '../../api/client/client.ts';
import { type Column, figures } from '../components/table.tsx';
import { usdOfNano } from '../text/money.ts';

type CallSums = Pick<
  ResultOf<'get_spend'>['total'],
  'calls' | 'failed' | 'prompt_tokens' | 'completion_tokens' | 'cost_nano_usd' | 'unpriced'
>;

export const CALLS: Column<CallSums> = figures('Calls', ({ calls, failed }) => (
  <>
    {calls.toLocaleString()}
    {failed === 0 ? null : <span className="below">{failed.toLocaleString()} failed</span>}
  </>
));
export const INPUT: Column<CallSums> = figures('Input tokens', (row) => row.prompt_tokens.toLocaleString());
export const OUTPUT: Column<CallSums> = figures('Output tokens', (row) =>
  row.completion_tokens.toLocaleString(),
);
export const COST: Column<CallSums> = figures('Cost', ({ cost_nano_usd: cost, unpriced }) => (
  <>
    {usdOfNano(cost)}
    {unpriced === 0 ? null : <span className="below">{unpriced.toLocaleString()} without a price</span>}
  </>
));
