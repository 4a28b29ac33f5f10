/**
 * Light, dark, or what the system says.
 * Owns the choice, which is kept in the tab as the key is, and the mark on the page that the style sheets read.
 */
import { useSyncExternalStore } from 'react';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const NAME = 'parley.theme';
const listeners = new Set<() => void>();

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(listen, chosenTheme), chooseTheme];
}

function chosenTheme(): Theme {
  const kept = globalThis.sessionStorage.getItem(NAME);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

export function chooseTheme(theme: Theme): void {
  globalThis.sessionStorage.setItem(NAME, theme);
  showTheme();
  for (const told of listeners) told();
}

/** Before anything is drawn, so that the user sees no colours change. */
export function showTheme(): void {
  const theme = chosenTheme();
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

function listen(onChange: () => void): () => void {
  listeners.add(onChange);
  return () => void listeners.delete(onChange);
}
