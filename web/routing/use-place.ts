/**
 * The page that the address bar names, and going to another one without loading the console anew.
 * Owns the listening to the browser's history.
 */
import { useSyncExternalStore } from 'react';
import { addressOf, placeOf, type Place } from './place.ts';

const listeners = new Set<() => void>();

function listen(onChange: () => void): () => void {
  listeners.add(onChange);
  globalThis.addEventListener('popstate', onChange);
  return () => {
    listeners.delete(onChange);
    globalThis.removeEventListener('popstate', onChange);
  };
}

export function usePlace(): Place {
  return placeOf(useSyncExternalStore(listen, () => globalThis.location.pathname));
}

export function goTo(place: Place): void {
  globalThis.history.pushState(null, '', addressOf(place));
  for (const told of listeners) told();
}
