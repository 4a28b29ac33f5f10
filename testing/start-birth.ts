/**
 * What a conversation that a test starts is born with.
 * Owns how a test's words become a birth; must not deliver anything.
 */
import type { ConversationBirth } from '../core/conversation/state.ts';
import type { ConversationId, SandboxId } from '../core/ids.ts';
import type { GroupingStrategy } from '../core/status.ts';
import { birthOutsideRun } from '../simulator/models/birth-outside-run.ts';

interface Written {
  readonly name: string;
  readonly repo?: string;
  readonly model?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly sandbox?: { readonly sandboxId: SandboxId | null };
  readonly grouping?: GroupingStrategy;
  readonly message?: string | null;
}

/** @throws Error when it is to join a conversation that has no sandbox yet */
export function startBirth(
  { name, repo, model, tags, sandbox, grouping, message }: Written,
  conversationId: ConversationId,
  groupingDefault: GroupingStrategy,
): ConversationBirth {
  if (sandbox?.sandboxId === null)
    throw new Error(`Cannot start "${name}" there: that conversation has no sandbox yet`);
  return birthOutsideRun({
    conversationId,
    title: name,
    repository: repo ?? null,
    model: model ?? null,
    tags: tags ?? {},
    strategy: grouping ?? groupingDefault,
    sandboxId: sandbox?.sandboxId ?? null,
    initialMessage:
      message === null ? null : { messageId: `${name}/initial`, text: message ?? 'begin', run: true },
  });
}
