/**
 * One conversation as the fields of a plan item, those that are alike once and those that are filled item by item.
 * Owns built-in defaults of an item; texts arrive filled.
 */
import type { PlanAgent } from '../../core/plan/plan-agent.ts';
import { normalUuid } from '../../core/ids.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { parseUsd } from '../../core/money/money.ts';
import type { PlanPlugin, PlanRepository } from '../../core/plan/plan-repository.ts';
import type { PlanScore, PlanVerify } from '../../core/plan/plan-check.ts';
import type { PlanItemLimits, PlanPlacement, PlanNeed } from '../../core/plan/plan.ts';
import type { GroupingStrategy } from '../../core/status.ts';
import type { NeedsDocument } from '../schema/needs-schema.ts';
import { parseDuration } from '../duration.ts';
import type { Combination } from './expand-matrix.ts';
import type { ItemSpec } from './plan-text.ts';
import type {
  ConversationDocument,
  PluginDocument,
  RepositoryDocument,
  ScoreDocument,
} from '../schema/conversation-schema.ts';
import type { JobDocument } from '../schema/job-schema.ts';

/** A check that takes longer belongs into the prompt. */
const VERIFY_TIMEOUT_DEFAULT_MS = 10 * MINUTE_MS;
const SETUP_TIMEOUT_DEFAULT_MS = 10 * MINUTE_MS;

/** The interpolated texts of one item. */
export interface FilledFields {
  readonly key: string;
  readonly prompt: string;
  readonly model: string;
  readonly repositoryName: string | null;
  readonly branch: string | null;
  readonly ref: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly priority: number;
  /** Null: it shares a sandbox of the pool with any other conversation. */
  readonly affinity: string | null;
  /** Null: the deployment's. */
  readonly agent: PlanAgent | null;
}

/** What every item of a conversation has alike, resolved once. */
export interface ItemBase extends Pick<ItemSpec, 'entry' | 'secrets' | 'verify' | 'limits'> {
  /** Absent from an item where the job does not write them, or writes what holds without them. */
  readonly optional: Pick<ItemSpec, 'needs' | 'confirmation' | 'plugins' | 'scores' | 'setup'> & OwnRules;
  readonly repository: Omit<PlanRepository, 'name' | 'branch' | 'ref'> | null;
}

/** When it is tried again, when it has ended, and what is kept, where that is not as in the run. */
type OwnRules = Pick<ItemSpec, 'retry' | 'wait' | 'collect'>;

export function resolveBase(conversation: ConversationDocument, rules: OwnRules): ItemBase {
  const { confirmation, plugins, repo, scores } = conversation;
  return {
    entry: conversation.id,
    secrets: sorted(conversation.secrets ?? {}),
    verify: resolveVerify(conversation),
    limits: resolveLimits(conversation),
    optional: {
      ...rules,
      ...(conversation.needs === undefined ? {} : { needs: buildNeeds(conversation.needs) }),
      ...(conversation.setup === undefined ? {} : { setup: resolveSetup(conversation.setup) }),
      ...(scores === undefined ? {} : { scores: scores.map(resolveScore) }),
      ...(confirmation === undefined || confirmation === 'never' ? {} : { confirmation }),
      ...(plugins === undefined || plugins.length === 0 ? {} : { plugins: plugins.map(resolvePlugin) }),
    },
    repository: repo === undefined ? null : resolveRepository(repo),
  };
}

interface ItemPlace {
  readonly matrix: Combination;
  /** Null where nothing is repeated. */
  readonly repeat: number | null;
  /** Absent where its row is none. */
  readonly issue?: ItemSpec['issue'];
}

/** Everything of an item that its hash covers. */
export function resolveItem(
  base: ItemBase,
  filled: FilledFields,
  { matrix, repeat, issue }: ItemPlace,
): ItemSpec {
  const { repositoryName: name } = filled;
  const { needs, confirmation, plugins, scores, setup, retry, wait, collect } = base.optional;
  // Field by field: copies of parts cost most of the time of a plan of 100,000.
  const item: Writable<ItemSpec> = {
    key: filled.key,
    entry: base.entry,
    matrix,
    prompt: filled.prompt,
    repository: name === null ? null : repositoryOf(base, name, filled),
    model: filled.model,
    tags: filled.tags,
    secrets: base.secrets,
    verify: base.verify,
    limits: base.limits,
    ...(needs === undefined ? {} : { needs }),
    priority: filled.priority,
  };
  if (issue !== undefined) item.issue = issue;
  if (retry !== undefined) item.retry = retry;
  if (wait !== undefined) item.wait = wait;
  if (collect !== undefined) item.collect = collect;
  if (filled.affinity !== null) item.affinity = filled.affinity;
  if (repeat !== null) item.repeat = repeat;
  if (confirmation !== undefined) item.confirmation = confirmation;
  if (plugins !== undefined) item.plugins = plugins;
  if (filled.agent !== null) item.agent = filled.agent;
  if (setup !== undefined) item.setup = setup;
  if (scores !== undefined) item.scores = scores;
  return item;
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** What is as the host has it is left out, so that writing it down changes no hash. */
function repositoryOf(
  { repository }: ItemBase,
  name: string,
  { branch, ref }: FilledFields,
): PlanRepository | null {
  if (repository === null) return null;
  const { host, tokenSecret, ...optional } = repository;
  return { name, branch, ...(ref === null ? {} : { ref }), host, tokenSecret, ...optional };
}

function resolveRepository({
  host,
  token,
  author,
  submodules,
  lfs,
}: RepositoryDocument): ItemBase['repository'] {
  return {
    host: host ?? null,
    tokenSecret: token?.secret ?? null,
    ...(submodules === true ? { submodules } : {}),
    ...(lfs === true ? { lfs } : {}),
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

function resolveScore({ name, command, timeout, at_least, at_most }: ScoreDocument): PlanScore {
  return {
    name,
    command,
    timeoutMs: durationMs(timeout) ?? VERIFY_TIMEOUT_DEFAULT_MS,
    ...(at_least === undefined ? {} : { atLeast: Number(at_least) }),
    ...(at_most === undefined ? {} : { atMost: Number(at_most) }),
  };
}

function resolveSetup({
  command,
  timeout,
  cache,
}: NonNullable<ConversationDocument['setup']>): NonNullable<ItemSpec['setup']> {
  const timeoutMs = durationMs(timeout) ?? SETUP_TIMEOUT_DEFAULT_MS;
  return { command, timeoutMs, ...(cache === undefined ? {} : { cache }) };
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

/** An amount of USD in nano-USD; null where none is written. */
export function amountNano(text: string | undefined): number | null {
  return text === undefined ? null : parseUsd(text);
}

export function resolvePlacement(placement: JobDocument['placement']): Omit<PlanPlacement, 'pool'> {
  const { strategy, sandbox, host, labels = {} } = placement ?? {};
  return {
    strategy: strategy === undefined ? null : (strategy.toUpperCase() as GroupingStrategy),
    sandboxId: sandbox === undefined ? null : normalUuid(sandbox),
    ...(host === undefined ? {} : { host }),
    ...(Object.keys(labels).length === 0 ? {} : { labels: sorted(labels) }),
  };
}

/** A copy whose keys are in order, so that equal plans are equal texts. */
export function sorted<Value>(map: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** `needs` of a conversation as the plan has them. */
export function buildNeeds(needs: NeedsDocument): readonly PlanNeed[] {
  return needs.map(({ entry, outcome = 'succeeded', each = false }) => ({ entry, outcome, each }));
}
