/**
 * Models that were added over the API, on every proxy (D25): sealed in the store, because an entry may hold a key.
 * Owns what is kept of them and their reading; they last as long as any proxy serves.
 */
import { parsedJson } from '../../core/text/parsed-json.ts';
import type { SecretVault } from '../../ports/secret-vault.ts';
import type { ConfigProblem, ModelEntry } from '../config/config.ts';
import type { ProxyLog } from '../log.ts';

const SCOPE = 'proxy/models';

export interface SharedModelsOptions {
  readonly vault: SecretVault;
  readonly log: ProxyLog;
  /** As the body of `POST /model/new` is read; null when it cannot be used here. */
  readonly read: (body: unknown, problems: ConfigProblem[]) => ModelEntry | null;
}

export class SharedModels {
  private readonly options: SharedModelsOptions;

  constructor(options: SharedModelsOptions) {
    this.options = options;
  }

  /** @throws ParleyError store_unavailable */
  async put(id: string, body: unknown): Promise<void> {
    await this.options.vault.put(SCOPE, id, JSON.stringify(body));
  }

  /** @throws ParleyError store_unavailable */
  async remove(id: string): Promise<void> {
    await this.options.vault.remove(SCOPE, id);
  }

  /** No proxy serves that they were added to. @throws ParleyError store_unavailable */
  async forgetAll(): Promise<void> {
    await this.options.vault.removeScope(SCOPE);
  }

  /** Every entry that can be used here; what cannot is logged. @throws ParleyError store_unavailable */
  async all(): Promise<readonly ModelEntry[]> {
    const { vault, log, read } = this.options;
    const entries: ModelEntry[] = [];
    for (const id of await vault.names(SCOPE)) {
      const problems: ConfigProblem[] = [];
      const text = await vault.get(SCOPE, id);
      const entry = text === null ? null : read(parsedJson(text), problems);
      if (entry !== null) entries.push(entry);
      else if (text !== null)
        log.error(
          { id, cause: problems.map(({ message }) => message).join('; ') },
          'Cannot use a model that was added',
        );
    }
    return entries;
  }
}
