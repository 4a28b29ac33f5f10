/**
 * The spec of a conversation that a client starts outside of any run.
 * Owns what holds when nothing else is said; must not deliver anything.
 */
import type { ConversationSpec } from '../../core/conversation/state.ts';
import { ITERATIONS_DEFAULT, SIMULATED_USER } from './run-model.ts';

type Given = Partial<ConversationSpec> &
  Pick<ConversationSpec, 'conversationId' | 'strategy' | 'initialMessage'>;

/** A conversation of the simulated user, with what is given in place of the defaults. */
export function specOutsideRun(given: Given): ConversationSpec {
  return {
    userId: SIMULATED_USER,
    runId: null,
    key: null,
    itemIndex: null,
    title: null,
    repository: null,
    codeHost: null,
    branch: null,
    model: null,
    tags: {},
    sandboxId: null,
    iterationsMax: ITERATIONS_DEFAULT,
    confirmation: 'never',
    nanoUsdMax: null,
    noProgressMs: null,
    ...given,
  };
}
