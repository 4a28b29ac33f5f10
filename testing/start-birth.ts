/**
 * What a conversation that a test starts is born with.
 * Owns the defaults beside the test's words; must not deliver anything.
 */
import type { ConversationBirth } from '../core/conversation/state.ts';
import type { ConversationId, SandboxId } from '../core/ids.ts';
import type { GroupingStrategy } from '../core/status.ts';
import { SIMULATED_USER } from '../simulator/models/run-model.ts';

interface Written {
  readonly name: string;
  readonly repo?: string;
  readonly model?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly sandbox?: { readonly sandboxId: SandboxId | null };
  readonly grouping?: GroupingStrategy;
  readonly message?: string | null;
}

/** Agent iterations: as many as a job allows that says nothing. */
const ITERATIONS = 500;

/** @throws Error when it is to join a conversation that has no sandbox yet */
export function startBirth(
  { name, repo, model, tags, sandbox, grouping, message }: Written,
  conversationId: ConversationId,
  groupingDefault: GroupingStrategy,
): ConversationBirth {
  if (sandbox?.sandboxId === null)
    throw new Error(`Cannot start "${name}" there: that conversation has no sandbox yet`);
  return {
    conversationId,
    userId: SIMULATED_USER,
    runId: null,
    key: null,
    itemIndex: null,
    title: name,
    repository: repo ?? null,
    codeHost: null,
    branch: null,
    model: model ?? null,
    tags: tags ?? {},
    strategy: grouping ?? groupingDefault,
    sandboxId: sandbox?.sandboxId ?? null,
    initialMessage:
      message === null ? null : { messageId: `${name}/initial`, text: message ?? 'begin', run: true },
    iterationsMax: ITERATIONS,
    confirmation: 'never',
    nanoUsdMax: null,
    noProgressMs: null,
  };
}
