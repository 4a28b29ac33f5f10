/**
 * Which names the proxy serves and where each leads.
 * Owns the entries, configured and added; must not check an entry's fields.
 */
import type { ModelEntry } from './config.ts';

export type Resolved =
  | { readonly kind: 'found'; readonly entry: ModelEntry; readonly upstreamModel: string }
  /** Only the wildcard could serve it, and the name lacks `provider/` (D24). */
  | { readonly kind: 'bare' }
  | { readonly kind: 'unknown' };

const WILDCARD = '*';

export class ModelTable {
  private readonly configured: ReadonlyMap<string, ModelEntry>;
  /** Added through `POST /model/new`: lost when the process ends (D25). */
  private readonly added = new Map<string, ModelEntry>();

  constructor(models: readonly ModelEntry[]) {
    this.configured = new Map(models.map((entry) => [entry.modelName, entry]));
  }

  /** Adds or replaces an added entry; false when the name is a configured one. */
  add(entry: ModelEntry): boolean {
    if (this.configured.has(entry.modelName)) return false;
    this.added.set(entry.modelName, entry);
    return true;
  }

  /** In the order of the configuration, then of addition. */
  names(): readonly string[] {
    return [...this.configured.keys(), ...this.added.keys()];
  }

  resolve(name: string): Resolved {
    const entry = this.find(name);
    if (entry !== undefined && name !== WILDCARD)
      return { kind: 'found', entry, upstreamModel: entry.upstreamModel };
    const wildcard = this.find(WILDCARD);
    if (wildcard === undefined) return { kind: 'unknown' };
    if (!name.includes('/')) return { kind: 'bare' };
    return {
      kind: 'found',
      entry: wildcard,
      upstreamModel: wildcard.upstreamModel.replace(WILDCARD, () => name),
    };
  }

  private find(name: string): ModelEntry | undefined {
    return this.configured.get(name) ?? this.added.get(name);
  }
}
