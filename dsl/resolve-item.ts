/**
 * One conversation with one combination as the fields of a plan item.
 * Owns built-in defaults of an item; texts arrive filled.
 */
import { normalUuid } from '../core/ids.ts';
import { MINUTE_MS } from '../core/time.ts';
import { parseUsd } from '../core/money.ts';
import type { PlanItem, PlanItemLimits, PlanPlacement, PlanRepository, PlanVerify } from '../core/plan.ts';
import type { GroupingStrategy } from '../core/status.ts';
import { parseDuration } from './duration.ts';
import type { Combination } from './expand-matrix.ts';
import type { ConversationDocument } from './schema/conversation-schema.ts';
import type { JobDocument } from './schema/job-schema.ts';

/** A check that takes longer belongs into the prompt. */
const VERIFY_TIMEOUT_DEFAULT_MS = 10 * MINUTE_MS;

/** The interpolated texts of one item. */
export interface FilledFields {
  readonly prompt: string;
  readonly model: string;
  readonly repositoryName: string | null;
  readonly branch: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

export interface ItemSource {
  readonly conversation: ConversationDocument;
  readonly combination: Combination;
  readonly key: string;
  readonly filled: FilledFields;
}

/** Everything of an item that its hash covers. */
export function resolveItem({
  conversation,
  combination,
  key,
  filled,
}: ItemSource): Omit<PlanItem, 'index' | 'specHash'> {
  return {
    key,
    entry: conversation.id,
    matrix: sorted(combination),
    prompt: filled.prompt,
    repository: resolveRepository(conversation, filled),
    model: filled.model,
    tags: sorted(filled.tags),
    secrets: sorted(conversation.secrets ?? {}),
    verify: resolveVerify(conversation),
    limits: resolveLimits(conversation),
    priority: conversation.priority ?? 0,
  };
}

function resolveRepository({ repo }: ConversationDocument, filled: FilledFields): PlanRepository | null {
  if (repo === undefined || filled.repositoryName === null) return null;
  return {
    name: filled.repositoryName,
    branch: filled.branch,
    host: repo.host ?? null,
    tokenSecret: repo.token?.secret ?? null,
  };
}

function resolveVerify({ verify }: ConversationDocument): PlanVerify | null {
  if (verify === undefined) return null;
  return { command: verify.command, timeoutMs: durationMs(verify.timeout) ?? VERIFY_TIMEOUT_DEFAULT_MS };
}

function resolveLimits({ limits }: ConversationDocument): PlanItemLimits {
  return {
    workingMs: durationMs(limits?.working),
    turns: limits?.turns ?? null,
    nanoUsd: amountNano(limits?.usd),
  };
}

/** Null for an absent text and for `none`. */
export function durationMs(text: string | undefined): number | null {
  return text === undefined ? null : parseDuration(text);
}

export function amountNano(text: string | undefined): number | null {
  return text === undefined ? null : parseUsd(text);
}

export function resolvePlacement(placement: JobDocument['placement']): PlanPlacement {
  const { strategy, sandbox } = placement ?? {};
  return {
    strategy: strategy === undefined ? null : (strategy.toUpperCase() as GroupingStrategy),
    sandboxId: sandbox === undefined ? null : normalUuid(sandbox),
  };
}

/** A copy whose keys are in order, so that equal plans are equal texts. */
export function sorted(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}
