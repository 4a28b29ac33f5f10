/**
 * Pages of the console and their addresses below `/console/`.
 * Owns both directions; an address that is none is the page `missing`.
 */
export type Place =
  | { readonly page: 'conversations' | 'sandboxes' | 'runs' | 'admin' | 'missing' }
  | { readonly page: 'settings-application' | 'settings-llm' }
  | { readonly page: 'conversation' | 'run'; readonly id: string };

const BASE = '/console';

export function placeOf(path: string): Place {
  const parts = path
    .slice(BASE.length)
    .split('/')
    .filter((part) => part !== '');
  const [first = 'conversations', second, ...rest] = parts;
  if (rest.length > 0) return { page: 'missing' };
  if (second !== undefined) return placeBelow(first, second);
  switch (first) {
    case 'conversations':
    case 'sandboxes':
    case 'runs':
    case 'admin':
      return { page: first };
    default:
      return { page: 'missing' };
  }
}

function placeBelow(first: string, second: string): Place {
  if (first === 'conversations') return { page: 'conversation', id: second };
  if (first === 'runs') return { page: 'run', id: second };
  if (first === 'settings' && second === 'application') return { page: 'settings-application' };
  if (first === 'settings' && second === 'llm') return { page: 'settings-llm' };
  return { page: 'missing' };
}

export function addressOf(place: Place): string {
  switch (place.page) {
    case 'conversation':
      return `${BASE}/conversations/${place.id}`;
    case 'run':
      return `${BASE}/runs/${place.id}`;
    case 'settings-application':
      return `${BASE}/settings/application`;
    case 'settings-llm':
      return `${BASE}/settings/llm`;
    case 'missing':
      return `${BASE}/`;
    default:
      return `${BASE}/${place.page}`;
  }
}
