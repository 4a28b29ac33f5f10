/**
 * The secrets of all conversations, in memory only. Owns who has which value and the one redactor for all of them:
 * conversations of a sandbox share its files, so a value of one may show up in the transcript of another.
 * Never writes anything down.
 */
import { makeRedactor, type MaskedForms, type Redactor } from './redaction.ts';

export class SecretVault implements Redactor {
  readonly #environments = new Map<string, Map<string, string>>();
  /** Values to mask that no shell gets: session key, model keys; and replaced values, which old output may hold. */
  readonly #masked = new Map<string, Set<string>>();
  #redactor: Redactor = makeRedactor([]);

  /** Adds or replaces secrets of one conversation; the others stay. */
  set(conversationId: string, secrets: Readonly<Record<string, string>>): void {
    const environment = this.#environments.get(conversationId) ?? new Map<string, string>();
    for (const [name, value] of Object.entries(secrets)) {
      environment.set(name, value);
      this.#maskedOf(conversationId).add(value);
    }
    this.#environments.set(conversationId, environment);
    this.#rebuild();
  }

  /** Masks a value without giving it to a shell. */
  mask(owner: string, value: string): void {
    this.#maskedOf(owner).add(value);
    this.#rebuild();
  }

  /** What the conversation's shell gets, by name. */
  environmentOf(conversationId: string): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#environments.get(conversationId) ?? []);
  }

  forget(conversationId: string): void {
    this.#environments.delete(conversationId);
    this.#masked.delete(conversationId);
    this.#rebuild();
  }

  get forms(): MaskedForms {
    return this.#redactor.forms;
  }

  text(text: string): string {
    return this.#redactor.text(text);
  }

  deep<T>(value: T, kept?: ReadonlySet<string>): T {
    return this.#redactor.deep(value, kept);
  }

  #maskedOf(owner: string): Set<string> {
    const values = this.#masked.get(owner) ?? new Set<string>();
    this.#masked.set(owner, values);
    return values;
  }

  #rebuild(): void {
    this.#redactor = makeRedactor([...this.#masked.values()].flatMap((values) => [...values]));
  }
}
