/**
 * The page that the address bar names with what of it is chosen, and going to another one without loading the console anew.
 * Owns the listening to the browser's history.
 */
import { useSyncExternalStore } from 'react';
import { addressOf, type Place, placeOf } from './place.ts';

const listeners = new Set<() => void>();

function listen(onChange: () => void): () => void {
  listeners.add(onChange);
  globalThis.addEventListener('popstate', onChange);
  return () => {
    listeners.delete(onChange);
    globalThis.removeEventListener('popstate', onChange);
  };
}

function tellAll(): void {
  for (const told of listeners) told();
}

export function usePlace(): Place {
  return placeOf(useSyncExternalStore(listen, () => globalThis.location.pathname));
}

/** Filters, order and page, as `name=value` pairs of the address. */
export function useQuery(): string {
  return useSyncExternalStore(listen, () => globalThis.location.search);
}

export function goTo(place: Place): void {
  globalThis.history.pushState(null, '', addressOf(place));
  tellAll();
}

/** The same page with another query. `isStep`: the browser's way back leads to the one before. */
export function setQuery(query: URLSearchParams, { isStep }: { readonly isStep: boolean }): void {
  const text = query.toString();
  const address = `${globalThis.location.pathname}${text === '' ? '' : `?${text}`}`;
  if (isStep) globalThis.history.pushState(null, '', address);
  else globalThis.history.replaceState(null, '', address);
  tellAll();
}
