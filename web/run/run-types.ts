/**
 * A run and its items as the API answers them.
 * Owns the names of these types only.
 */
import type { ResultOf } from '../../api/client/client.ts';

export type RunRecord = ResultOf<'get_run'>;
export type RunItem = ResultOf<'search_run_items'>['items'][number];
