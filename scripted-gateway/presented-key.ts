// Where a request carries its key: both vendors' clients are understood on every route.
// It must not know which keys there are.

import type { IncomingHttpHeaders } from 'node:http';

/** As an `authorization` header would have it; undefined when there is none. */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const { authorization, 'x-api-key': apiKey } = headers;
  return authorization ?? (typeof apiKey === 'string' ? `Bearer ${apiKey}` : undefined);
}
