/**
 * The transition tables that the machines run, by machine, as bare words: from a phase, by an event, to phases.
 * Owns nothing but the lookup; what a cell does stays in core/.
 */
import { CONVERSATION_TABLE } from '../core/conversation/table.ts';
import type { MachineName } from '../core/ids.ts';
import { RUN_TABLE } from '../core/run/table.ts';
import { SHARD_TABLE } from '../core/shard/table.ts';
import { SANDBOX_TABLE } from '../core/sandbox/table.ts';

/** Phase, then event; an absent cell changes nothing. */
type Rows = Readonly<
  Record<string, Readonly<Record<string, { readonly to: readonly string[] } | undefined>>>
>;

export const MACHINE_TABLES: Readonly<Record<MachineName, Rows>> = {
  sandbox: SANDBOX_TABLE,
  conversation: CONVERSATION_TABLE,
  run: RUN_TABLE,
  shard: SHARD_TABLE,
};
