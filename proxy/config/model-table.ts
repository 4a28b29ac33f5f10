/**
 * Which names the proxy serves and where each leads.
 * Owns the entries, configured and added, and the order in which those of one name are tried; must not check a field.
 */
import type { ModelEntry } from './config.ts';
import { EntryStates } from './entry-states.ts';
import { OPENAI_MODEL_NAMES } from './openai-model-names.ts';

export interface Target {
  readonly entry: ModelEntry;
  readonly upstreamModel: string;
}

export type Resolved =
  /** At least one, the one to try first in front. */
  | { readonly kind: 'found'; readonly listedName: string; readonly targets: readonly Target[] }
  /** Only the wildcard could serve it, and the name lacks `provider/` (D24). */
  | { readonly kind: 'bare' }
  | { readonly kind: 'unknown' };

export type Addition = 'added' | 'replaced' | 'configured';
export type Removal = 'removed' | 'configured' | 'unknown';

const WILDCARD = '*';

export class ModelTable {
  private readonly configured: ReadonlyMap<string, readonly ModelEntry[]>;
  /** Added through `POST /model/new`, by id: lost when the process ends (D25). */
  private readonly added: Map<string, ModelEntry>;
  /** Outlives a reload. */
  readonly states: EntryStates;

  constructor(models: readonly ModelEntry[], before?: ModelTable) {
    this.configured = byName(models);
    this.states = before?.states ?? new EntryStates();
    this.added = new Map(before?.added ?? []);
  }

  /** Joins the entries of its name; one of the same id is replaced. A configured name is not touched. */
  add(entry: ModelEntry): Addition {
    if (this.configured.has(entry.modelName)) return 'configured';
    const isKnown = this.added.has(entry.id);
    this.added.set(entry.id, entry);
    return isKnown ? 'replaced' : 'added';
  }

  /** Those that were added are these from now on. */
  replaceAdded(entries: readonly ModelEntry[]): void {
    this.added.clear();
    for (const entry of entries) this.added.set(entry.id, entry);
  }

  remove(id: string): Removal {
    if (this.added.delete(id)) return 'removed';
    return this.entries().some((entry) => entry.id === id) ? 'configured' : 'unknown';
  }

  isConfigured(entry: ModelEntry): boolean {
    return this.configured.has(entry.modelName);
  }

  /** In the order of the configuration, then of addition. A name that was configured meanwhile hides added ones. */
  entries(): readonly ModelEntry[] {
    const added = [...this.added.values()].filter((entry) => !this.configured.has(entry.modelName));
    return [...[...this.configured.values()].flat(), ...added];
  }

  /** What the list shows: each name once, and with a wildcard the public OpenAI names after them (D24). */
  names(): readonly string[] {
    const names = new Set(this.entries().map((entry) => entry.modelName));
    return names.has(WILDCARD) ? [...new Set([...names, ...OPENAI_MODEL_NAMES])] : [...names];
  }

  resolve(name: string): Resolved {
    const entries = name === WILDCARD ? [] : this.named(name);
    if (entries.length > 0) {
      return {
        kind: 'found',
        listedName: name,
        targets: this.states.inOrder(entries).map((entry) => ({ entry, upstreamModel: entry.upstreamModel })),
      };
    }
    const wildcards = this.named(WILDCARD);
    if (wildcards.length === 0) return { kind: 'unknown' };
    if (!name.includes('/')) return { kind: 'bare' };
    const targets = this.states.inOrder(wildcards).map((entry) => ({
      entry,
      upstreamModel: entry.upstreamModel.replace(WILDCARD, () => name),
    }));
    return { kind: 'found', listedName: WILDCARD, targets };
  }

  private named(name: string): readonly ModelEntry[] {
    return this.configured.get(name) ?? [...this.added.values()].filter((entry) => entry.modelName === name);
  }
}

function byName(models: readonly ModelEntry[]): ReadonlyMap<string, readonly ModelEntry[]> {
  const groups = new Map<string, ModelEntry[]>();
  for (const entry of models) {
    const group = groups.get(entry.modelName);
    if (group === undefined) groups.set(entry.modelName, [entry]);
    else group.push(entry);
  }
  return groups;
}
