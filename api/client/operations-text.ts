/**
 * The text of operations.ts: where each operation of the application API is, without anything that a server needs.
 * Owns the form; `npm run gen` writes it, and a test compares.
 */
import { APPLICATION_ROUTES } from '../application/routes.ts';
import type { Route } from '../application/route.ts';

const HEADER = `/**
 * Where each operation of the application API is.
 * Generated from api/application/routes.ts by \`npm run gen\`: do not edit.
 */
`;

export function operationsText(): string {
  const lines = (APPLICATION_ROUTES as readonly Route[]).map(({ operation, method, url, result }) => {
    const answer = typeof result === 'string' ? 'response' : 'json';
    return `  ${operation}: { method: '${method}', url: '${url}', answer: '${answer}' },\n`;
  });
  return `${HEADER}// prettier-ignore\nexport const OPERATIONS = {\n${lines.join('')}} as const;\n`;
}
