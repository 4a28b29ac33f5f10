/**
 * `defaults` under a conversation.
 * Owns the merge: `tags`, `secrets` and `limits` key by key, everything else as a whole, the conversation wins.
 */
import type { ConversationDocument, DefaultsDocument } from './schema/conversation-schema.ts';

export function applyDefaults(own: ConversationDocument, defaults: DefaultsDocument): ConversationDocument {
  const { branch: _own, ...fields } = own;
  const { branch: _defaults, repo: inherited, ...shared } = defaults;
  const repo = own.repo ?? inherited;
  const branch =
    own.branch ?? own.repo?.branch ?? defaults.branch ?? (own.repo ? undefined : inherited?.branch);
  return {
    ...shared,
    ...fields,
    ...(repo === undefined ? {} : { repo: { ...repo, ...(branch === undefined ? {} : { branch }) } }),
    tags: { ...defaults.tags, ...own.tags },
    secrets: { ...defaults.secrets, ...own.secrets },
    limits: { ...defaults.limits, ...own.limits },
  };
}
