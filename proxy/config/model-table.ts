/**
 * Which names the proxy serves and where each leads.
 * Owns the entries, configured and added, and the order in which those of one name are tried; must not check a field.
 */
import type { ModelEntry } from './config.ts';
import { EntryStates } from './entry-states.ts';

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

/** Models by name: those of the file, and those that were added since. */
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

/**
 * Names of OpenAI models, as they are public.
 * Owns the list that a wildcard entry adds to `GET /v1/models` (D24); nothing is decided by it, and no gateway has to
 * know a name of it.
 */

const NAMES = `
1024-x-1024/gpt-image-1.5 1024-x-1024/gpt-image-1.5-2025-12-16 1024-x-1536/gpt-image-1.5
1024-x-1536/gpt-image-1.5-2025-12-16 1536-x-1024/gpt-image-1.5 1536-x-1024/gpt-image-1.5-2025-12-16
babbage-002 chat-latest chatgpt-image-latest computer-use-preview computer-use-preview-2025-03-11
davinci-002 daybreak-blue-latest daybreak-red-latest ft:babbage-002 ft:davinci-002 ft:gpt-3.5-turbo
ft:gpt-3.5-turbo-0125 ft:gpt-3.5-turbo-0613 ft:gpt-3.5-turbo-1106 ft:gpt-4-0613 ft:gpt-4.1-2025-04-14
ft:gpt-4.1-mini-2025-04-14 ft:gpt-4.1-nano-2025-04-14 ft:gpt-4o-2024-08-06 ft:gpt-4o-2024-11-20
ft:gpt-4o-mini-2024-07-18 ft:o4-mini-2025-04-16 gpt-3.5-turbo gpt-3.5-turbo-0125 gpt-3.5-turbo-1106
gpt-3.5-turbo-16k gpt-3.5-turbo-instruct gpt-3.5-turbo-instruct-0914 gpt-4 gpt-4-0613 gpt-4-1106-preview
gpt-4-turbo gpt-4-turbo-2024-04-09 gpt-4.1 gpt-4.1-2025-04-14 gpt-4.1-mini gpt-4.1-mini-2025-04-14
gpt-4.1-nano gpt-4.1-nano-2025-04-14 gpt-4o gpt-4o-2024-05-13 gpt-4o-2024-08-06 gpt-4o-2024-11-20
gpt-4o-audio-preview-2024-12-17 gpt-4o-audio-preview-2025-06-03 gpt-4o-mini gpt-4o-mini-2024-07-18
gpt-4o-mini-audio-preview-2024-12-17 gpt-4o-mini-realtime-preview-2024-12-17 gpt-4o-mini-search-preview
gpt-4o-mini-search-preview-2025-03-11 gpt-4o-mini-transcribe gpt-4o-mini-transcribe-2025-03-20
gpt-4o-mini-transcribe-2025-12-15 gpt-4o-mini-tts gpt-4o-mini-tts-2025-03-20 gpt-4o-mini-tts-2025-12-15
gpt-4o-search-preview gpt-4o-search-preview-2025-03-11 gpt-4o-transcribe gpt-4o-transcribe-diarize gpt-5
gpt-5-2025-08-07 gpt-5-chat gpt-5-chat-latest gpt-5-codex gpt-5-mini gpt-5-mini-2025-08-07 gpt-5-nano
gpt-5-nano-2025-08-07 gpt-5-pro gpt-5-pro-2025-10-06 gpt-5-search-api gpt-5-search-api-2025-10-14
gpt-5.1 gpt-5.1-2025-11-13 gpt-5.1-chat-latest gpt-5.1-codex gpt-5.1-codex-max gpt-5.1-codex-mini
gpt-5.2 gpt-5.2-2025-12-11 gpt-5.2-chat-latest gpt-5.2-codex gpt-5.2-pro gpt-5.2-pro-2025-12-11
gpt-5.3-chat-latest gpt-5.3-codex gpt-5.4 gpt-5.4-2026-03-05 gpt-5.4-mini gpt-5.4-mini-2026-03-17
gpt-5.4-nano gpt-5.4-nano-2026-03-17 gpt-5.4-pro gpt-5.4-pro-2026-03-05 gpt-5.5 gpt-5.5-2026-04-23
gpt-5.5-cyber gpt-5.5-cyber-preview gpt-5.5-pro gpt-5.5-pro-2026-04-23 gpt-5.6 gpt-5.6-cyber
gpt-5.6-luna gpt-5.6-sol gpt-5.6-terra gpt-6-astra gpt-6-luna gpt-6-sol gpt-6.1-sol gpt-audio
gpt-audio-1.5 gpt-audio-2025-08-28 gpt-audio-mini gpt-audio-mini-2025-10-06 gpt-audio-mini-2025-12-15
gpt-daybreak-blue-latest gpt-daybreak-red-latest gpt-image-1 gpt-image-1-mini gpt-image-1.5
gpt-image-1.5-2025-12-16 gpt-image-2 gpt-image-2-2026-04-21 gpt-image-2.5-flare
gpt-image-2.5-flare-2026-09-08 gpt-image-2.5-sunburst gpt-image-2.5-sunburst-2026-09-08 gpt-live-1
gpt-live-transcribe gpt-realtime gpt-realtime-1.5 gpt-realtime-2 gpt-realtime-2.1 gpt-realtime-2.1-mini
gpt-realtime-2025-08-28 gpt-realtime-mini gpt-realtime-mini-2025-12-15 gpt-realtime-translate
gpt-realtime-whisper gpt-rosalind-discovery gpt-rosalind-research gpt-transcribe
high/1024-x-1024/gpt-image-1 high/1024-x-1024/gpt-image-1.5 high/1024-x-1024/gpt-image-1.5-2025-12-16
high/1024-x-1536/gpt-image-1 high/1024-x-1536/gpt-image-1.5 high/1024-x-1536/gpt-image-1.5-2025-12-16
high/1536-x-1024/gpt-image-1 high/1536-x-1024/gpt-image-1.5 high/1536-x-1024/gpt-image-1.5-2025-12-16
low/1024-x-1024/gpt-image-1 low/1024-x-1024/gpt-image-1-mini low/1024-x-1024/gpt-image-1.5
low/1024-x-1024/gpt-image-1.5-2025-12-16 low/1024-x-1536/gpt-image-1 low/1024-x-1536/gpt-image-1-mini
low/1024-x-1536/gpt-image-1.5 low/1024-x-1536/gpt-image-1.5-2025-12-16 low/1536-x-1024/gpt-image-1
low/1536-x-1024/gpt-image-1-mini low/1536-x-1024/gpt-image-1.5 low/1536-x-1024/gpt-image-1.5-2025-12-16
medium/1024-x-1024/gpt-image-1 medium/1024-x-1024/gpt-image-1-mini medium/1024-x-1024/gpt-image-1.5
medium/1024-x-1024/gpt-image-1.5-2025-12-16 medium/1024-x-1536/gpt-image-1
medium/1024-x-1536/gpt-image-1-mini medium/1024-x-1536/gpt-image-1.5
medium/1024-x-1536/gpt-image-1.5-2025-12-16 medium/1536-x-1024/gpt-image-1
medium/1536-x-1024/gpt-image-1-mini medium/1536-x-1024/gpt-image-1.5
medium/1536-x-1024/gpt-image-1.5-2025-12-16 o1 o1-2024-12-17 o1-pro o1-pro-2025-03-19 o3 o3-2025-04-16
o3-deep-research o3-deep-research-2025-06-26 o3-mini o3-mini-2025-01-31 o3-pro o3-pro-2025-06-10 o4-mini
o4-mini-2025-04-16 o4-mini-deep-research o4-mini-deep-research-2025-06-26 omni-moderation-2024-09-26
omni-moderation-latest sora-2 sora-2-pro sora-2-pro-high-res standard/1024-x-1024/gpt-image-1.5
standard/1024-x-1024/gpt-image-1.5-2025-12-16 standard/1024-x-1536/gpt-image-1.5
standard/1024-x-1536/gpt-image-1.5-2025-12-16 standard/1536-x-1024/gpt-image-1.5
standard/1536-x-1024/gpt-image-1.5-2025-12-16 text-embedding-3-large text-embedding-3-small
text-embedding-ada-002 text-embedding-ada-002-v2 tts-1 tts-1-1106 tts-1-hd tts-1-hd-1106 whisper-1
`;

const OPENAI_MODEL_NAMES: readonly string[] = NAMES.trim().split(/\s+/);
