/**
 * Virtual keys: made, checked, counted (D5).
 * Owns their records in memory, and that the key itself is only in the reply to its creation.
 */
import { hash, randomBytes } from 'node:crypto';
import { budgetWindow } from '../../core/money/budget-window.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import type { KeyDirectory, ProxyCaller } from '../../ports/key-directory.ts';
import type { ProxyKeyRecord, ProxyKeyStore } from '../../ports/proxy-keys.ts';
import type { SpendAccounts } from '../../ports/spend-accounts.ts';
import type { SpendReservations } from '../../ports/spend-reservations.ts';
import type { Failure } from '../failure.ts';
import { SharedKeys } from '../peers/shared-keys.ts';
import type { SharedLimits } from '../peers/shared-limits.ts';
import { countBegin, countEnd, freshUse, nextWindowS, refusalOf, type KeyUse } from './key-use.ts';
import { KEY_MEMORY_MS, KEYS_IN_MEMORY_MAX } from '../limits.ts';

export interface VirtualKeysOptions {
  readonly store: ProxyKeyStore;
  readonly accounts: SpendAccounts;
  /** Writes pending rows to the store, so that a sum over them is complete. */
  readonly flush: () => Promise<void>;
  readonly clock: { now(): number };
  /** Where other proxies serve the same keys; else the use of keys is counted here. */
  readonly shared?: { readonly limits: SharedLimits; announce(): Promise<void> };
}

/** 192 random bits; the prefix is what clients of such gateways expect. */
const KEY_BYTES = 24;
const TAIL_LENGTH = 4;

interface Known {
  readonly record: ProxyKeyRecord | null;
  readonly caller: ProxyCaller | null;
  readonly readAt: number;
}

export class VirtualKeys implements KeyDirectory {
  private readonly options: VirtualKeysOptions;
  /** By hash; a key that does not exist is remembered too, so that trying keys costs the store nothing. */
  private readonly known = new Map<string, Known>();
  /** By name of the key. Kept while a call is in flight, even if `known` has forgotten the key. */
  private readonly uses = new Map<string, KeyUse>();

  private readonly shared: SharedKeys | null;

  constructor(options: VirtualKeysOptions) {
    this.options = options;
    const { shared, clock } = options;
    const spent = (record: ProxyKeyRecord): Promise<number> => this.spent(record);
    this.shared = shared === undefined ? null : new SharedKeys({ limits: shared.limits, spent, clock });
  }

  /** Another proxy has changed a key. */
  forget(): void {
    this.known.clear();
  }

  find(_key: string, sha256: string): ProxyCaller | null | Promise<ProxyCaller | null> {
    const known = this.known.get(sha256);
    if (known !== undefined && this.isFresh(known)) return this.usable(known);
    return this.options.store.find(sha256).then((record) => this.usable(this.remember(sha256, record)));
  }

  /** A record with a future `readAt` was read before the clock was set back: its age is unknown. */
  private isFresh({ readAt }: Known): boolean {
    const ageMs = this.options.clock.now() - readAt;
    return ageMs >= 0 && ageMs < KEY_MEMORY_MS;
  }

  /** Why a call is refused; null lets it go on. Its beginning is counted at once, so that concurrent calls add up. */
  admit(record: ProxyKeyRecord): Failure | null | Promise<Failure | null> {
    if (this.shared !== null) return this.shared.admit(record);
    const use = this.uses.get(record.name);
    return use === undefined
      ? this.loadUse(record).then((loaded) => this.begin(record, loaded))
      : this.begin(record, use);
  }

  private begin(record: ProxyKeyRecord, use: KeyUse): Failure | null {
    const refused = refusalOf(record, use, this.options.clock.now());
    if (refused === null) countBegin(use);
    return refused;
  }

  /** Where a call that was admitted holds its money. */
  accountOf(record: ProxyKeyRecord): SpendReservations | null {
    if (this.shared !== null) return this.shared.money(record);
    return record.budgetNanoUsd === null ? null : (this.uses.get(record.name)?.account ?? null);
  }

  /** Seconds until the budget's next window begins. */
  nextWindowS(record: ProxyKeyRecord): number | null {
    const now = this.options.clock.now();
    const windowFrom = this.uses.get(record.name)?.windowFrom ?? budgetWindow(record, now);
    return nextWindowS(record, { windowFrom }, now);
  }

  /** The call that was admitted has ended; null when it was never sent. */
  settle(record: ProxyKeyRecord, row: SpendRow | null): void {
    const tokens = tokensOf(row);
    this.shared?.end(record, tokens);
    const use = this.uses.get(record.name);
    if (use !== undefined) countEnd(use, tokens);
  }

  /** A failed try that is not the last of its call: it costs, but is no call of its own. */
  charge(record: ProxyKeyRecord, row: SpendRow): void {
    this.shared?.charge(record, tokensOf(row));
    const use = this.uses.get(record.name);
    if (use === undefined) return;
    use.inFlight += 1;
    countEnd(use, tokensOf(row));
  }

  /** Stores a new key's record; only this returns the key. @throws ParleyError store_conflict, store_unavailable */
  async create(
    make: (key: { readonly hash: string; readonly tail: string }) => ProxyKeyRecord,
  ): Promise<{ readonly key: string; readonly record: ProxyKeyRecord }> {
    const key = `sk-${randomBytes(KEY_BYTES).toString('base64url')}`;
    const record = make({ hash: hashOf(key), tail: key.slice(-TAIL_LENGTH) });
    await this.put(record);
    return { key, record };
  }

  /** @throws ParleyError store_conflict, store_unavailable */
  async put(record: ProxyKeyRecord): Promise<void> {
    await this.options.store.put(record);
    this.remember(record.hash, record);
    await this.options.shared?.announce();
  }

  /** The changed record of a key counts from its next call on. @throws ParleyError store_unavailable */
  async change(record: ProxyKeyRecord): Promise<void> {
    await this.put(record);
    const use = this.uses.get(record.name);
    if (use === undefined) return;
    use.account.limit(record.budgetNanoUsd);
    if (record.budgetNanoUsd === null) return;
    // It may have had no budget so far, or another window: its rows show what was spent, and calls that end
    // meanwhile count twice rather than not at all.
    const before = use.account.spentNanoUsd;
    const spent = await this.spent(record);
    use.windowFrom = budgetWindow(record, this.options.clock.now());
    use.account.spentNanoUsd = spent + Math.max(0, use.account.spentNanoUsd - before);
  }

  /** By the key or its hash. */
  async remove(keyOrHash: string): Promise<ProxyKeyRecord | null> {
    const record = await this.byKeyOrHash(keyOrHash);
    if (record === null) return null;
    await this.options.store.remove(record.hash);
    this.remember(record.hash, null);
    await this.options.shared?.announce();
    this.uses.delete(record.name);
    return record;
  }

  async byKeyOrHash(keyOrHash: string): Promise<ProxyKeyRecord | null> {
    return this.options.store.find(HASH.test(keyOrHash) ? keyOrHash : hashOf(keyOrHash));
  }

  list(): Promise<readonly ProxyKeyRecord[]> {
    return this.options.store.list();
  }

  /** What the key has spent in its present window, by its rows. */
  async spent(record: ProxyKeyRecord): Promise<number> {
    await this.options.flush();
    return this.options.accounts.spentBy(record.name, budgetWindow(record, this.options.clock.now()));
  }

  private usable({ record, caller }: Known): ProxyCaller | null {
    return record === null || record.isBlocked || this.isExpired(record) ? null : caller;
  }

  private isExpired({ expiresAt }: ProxyKeyRecord): boolean {
    return expiresAt !== null && expiresAt <= this.options.clock.now();
  }

  private remember(hashed: string, record: ProxyKeyRecord | null): Known {
    this.known.delete(hashed);
    const oldest = this.known.keys().next();
    if (this.known.size >= KEYS_IN_MEMORY_MAX && oldest.done !== true) this.known.delete(oldest.value);
    const caller = record === null ? null : callerOf(record);
    const known: Known = { record, caller, readAt: this.options.clock.now() };
    this.known.set(hashed, known);
    return known;
  }

  private async loadUse(record: ProxyKeyRecord): Promise<KeyUse> {
    const spent = record.budgetNanoUsd === null ? 0 : await this.spent(record);
    // Calls that came in meanwhile wait for the same sum; the first one to get it sets the use.
    const loaded = this.uses.get(record.name);
    if (loaded !== undefined) return loaded;
    const use = freshUse(record, this.options.clock.now(), spent);
    this.uses.set(record.name, use);
    return use;
  }
}

function callerOf(record: ProxyKeyRecord): ProxyCaller {
  const { name, userId, models, team, tags, metadata } = record;
  return {
    name,
    sessionId: null,
    userId,
    models,
    ...(team === null ? {} : { team }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    limits: record,
  };
}

function tokensOf(row: SpendRow | null): number {
  return (row?.promptTokens ?? 0) + (row?.completionTokens ?? 0);
}

const HASH = /^[0-9a-f]{64}$/;

function hashOf(key: string): string {
  return hash('sha256', key, 'hex');
}
