/**
 * Pages of the console and their addresses below `/console/`.
 * Owns both directions; an address that is none is the page `missing`.
 */
export type Place =
  | { readonly page: 'overview' | 'conversations' | 'sandboxes' | 'runs' | 'missing' }
  | { readonly page: 'settings-application' | 'settings-llm' | 'secrets' | 'keys' }
  | { readonly page: 'admin' | 'audit' }
  | { readonly page: 'start-run' }
  | { readonly page: 'run' | 'report'; readonly id: string }
  | { readonly page: 'comparison'; readonly id: string; readonly before: string }
  | { readonly page: 'job'; readonly name: string }
  | { readonly page: 'conversation'; readonly id: string; readonly view?: ConversationView };

/** What is shown of one conversation; without a word, what is said in it. */
export const CONVERSATION_VIEWS = ['changes', 'files', 'skills', 'usage'] as const;
export type ConversationView = (typeof CONVERSATION_VIEWS)[number];

const BASE = '/console';

export function placeOf(path: string): Place {
  const parts = path
    .slice(BASE.length)
    .split('/')
    .filter((part) => part !== '');
  const [first = 'overview', second, third, fourth, ...rest] = parts;
  if (rest.length > 0) return { page: 'missing' };
  if (fourth !== undefined)
    return first === 'runs' && third === 'beside'
      ? { page: 'comparison', id: second ?? '', before: fourth }
      : { page: 'missing' };
  if (third !== undefined) return placeOfView(first, second ?? '', third);
  if (second !== undefined) return placeBelow(first, second);
  switch (first) {
    case 'overview':
    case 'conversations':
    case 'sandboxes':
    case 'runs':
    case 'start-run':
    case 'secrets':
    case 'keys':
    case 'admin':
    case 'audit':
      return { page: first };
    default:
      return { page: 'missing' };
  }
}

function placeOfView(first: string, id: string, word: string): Place {
  if (first === 'runs' && word === 'report') return { page: 'report', id };
  const view = CONVERSATION_VIEWS.find((one) => one === word);
  if (first !== 'conversations' || view === undefined) return { page: 'missing' };
  return { page: 'conversation', id, view };
}

function placeBelow(first: string, second: string): Place {
  if (first === 'conversations') return { page: 'conversation', id: second };
  if (first === 'runs') return { page: 'run', id: second };
  if (first === 'jobs') return { page: 'job', name: second };
  if (first === 'settings' && second === 'application') return { page: 'settings-application' };
  if (first === 'settings' && second === 'llm') return { page: 'settings-llm' };
  return { page: 'missing' };
}

export function addressOf(place: Place): string {
  switch (place.page) {
    case 'conversation':
      return `${BASE}/conversations/${place.id}${place.view === undefined ? '' : `/${place.view}`}`;
    case 'run':
      return `${BASE}/runs/${place.id}`;
    case 'report':
      return `${BASE}/runs/${place.id}/report`;
    case 'comparison':
      return `${BASE}/runs/${place.id}/beside/${place.before}`;
    case 'job':
      return `${BASE}/jobs/${place.name}`;
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
