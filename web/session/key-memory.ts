/**
 * The API key of this tab: kept until the tab is closed, never in an address, and for no other tab.
 * Owns the place where it is kept.
 */
const NAME = 'parley.key';

export function rememberedKey(): string | null {
  return globalThis.sessionStorage.getItem(NAME);
}

export function rememberKey(key: string): void {
  globalThis.sessionStorage.setItem(NAME, key);
}

export function forgetKey(): void {
  globalThis.sessionStorage.removeItem(NAME);
}
