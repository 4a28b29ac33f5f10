/**
 * One conversation as the fields of a plan item, those that are alike once and those that are filled item by item.
 * Owns built-in defaults of an item; texts arrive filled.
 */
import { normalUuid } from '../core/ids.ts';
import { MINUTE_MS } from '../core/time.ts';
import { parseUsd } from '../core/money.ts';
import type {
  PlanItem,
  PlanItemLimits,
  PlanPlacement,
  PlanPlugin,
  PlanRepository,
  PlanVerify,
} from '../core/plan.ts';
import type { GroupingStrategy } from '../core/status.ts';
import { buildNeeds } from './build-needs.ts';
import { parseDuration } from './duration.ts';
import type { Combination } from './expand-matrix.ts';
import type {
  ConversationDocument,
  PluginDocument,
  RepositoryDocument,
} from './schema/conversation-schema.ts';
import type { JobDocument } from './schema/job-schema.ts';

/** A check that takes longer belongs into the prompt. */
const VERIFY_TIMEOUT_DEFAULT_MS = 10 * MINUTE_MS;

/** The interpolated texts of one item. */
export interface FilledFields {
  readonly key: string;
  readonly prompt: string;
  readonly model: string;
  readonly repositoryName: string | null;
  readonly branch: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly priority: number;
}

type Spec = Omit<PlanItem, 'index' | 'specHash'>;

/** What every item of a conversation has alike, resolved once. */
export interface ItemBase {
  readonly first: Pick<Spec, 'entry'>;
  readonly middle: Pick<Spec, 'secrets' | 'verify' | 'limits'>;
  readonly last: Pick<Spec, 'confirmation' | 'plugins'>;
  readonly repository: Omit<PlanRepository, 'name' | 'branch'> | null;
}

export function resolveBase(conversation: ConversationDocument): ItemBase {
  const { confirmation, plugins, repo } = conversation;
  return {
    first: { entry: conversation.id },
    middle: {
      secrets: sorted(conversation.secrets ?? {}),
      verify: resolveVerify(conversation),
      limits: resolveLimits(conversation),
      ...(conversation.needs === undefined ? {} : { needs: buildNeeds(conversation.needs) }),
    },
    last: {
      ...(confirmation === undefined ? {} : { confirmation }),
      ...(plugins === undefined || plugins.length === 0 ? {} : { plugins: plugins.map(resolvePlugin) }),
    },
    repository: repo === undefined ? null : resolveRepository(repo),
  };
}

/** Everything of an item that its hash covers. `repeat` is null where nothing is repeated. */
export function resolveItem(
  base: ItemBase,
  filled: FilledFields,
  { matrix, repeat }: { readonly matrix: Combination; readonly repeat: number | null },
): Spec {
  const { repositoryName: name, branch } = filled;
  return {
    key: filled.key,
    ...base.first,
    matrix,
    prompt: filled.prompt,
    repository: name === null || base.repository === null ? null : { name, branch, ...base.repository },
    model: filled.model,
    tags: filled.tags,
    ...base.middle,
    priority: filled.priority,
    ...(repeat === null ? {} : { repeat }),
    ...base.last,
  };
}

function resolveRepository({ host, token, author }: RepositoryDocument): ItemBase['repository'] {
  return {
    host: host ?? null,
    tokenSecret: token?.secret ?? null,
    ...(author === undefined ? {} : { author: { name: author.name, email: author.email } }),
  };
}

function resolvePlugin({ source, ref, path }: PluginDocument): PlanPlugin {
  return { source, ref: ref ?? null, path: path ?? null };
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
