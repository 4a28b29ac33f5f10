/**
 * `defaults` under a conversation.
 * Owns the merge: `tags`, `secrets`, `limits` and `wait` key by key, everything else as a whole, the conversation wins.
 */
import type { ConversationDocument, DefaultsDocument } from '../schema/conversation-schema.ts';

export function applyDefaults(own: ConversationDocument, defaults: DefaultsDocument): ConversationDocument {
  const { branch: _own, ...fields } = own;
  const { branch: _defaults, repo: inherited, ...shared } = defaults;
  const repo = own.repo ?? inherited;
  // Who names a ref has no branch of the defaults, and who names a branch no ref of them.
  const ownBranch = own.branch ?? own.repo?.branch;
  const branch = ownBranch ?? (repo?.ref === undefined ? (defaults.branch ?? repo?.branch) : undefined);
  return {
    ...shared,
    ...fields,
    ...(repo === undefined ? {} : { repo: startingAt(repo, branch) }),
    tags: { ...defaults.tags, ...own.tags },
    secrets: { ...defaults.secrets, ...own.secrets },
    limits: { ...defaults.limits, ...own.limits },
    ...(defaults.wait === undefined && own.wait === undefined
      ? {}
      : { wait: { ...defaults.wait, ...own.wait } }),
  };
}

function startingAt(
  { branch: _branch, ref, ...repo }: NonNullable<ConversationDocument['repo']>,
  branch: string | undefined,
): NonNullable<ConversationDocument['repo']> {
  if (branch !== undefined) return { ...repo, branch };
  return ref === undefined ? repo : { ...repo, ref };
}
