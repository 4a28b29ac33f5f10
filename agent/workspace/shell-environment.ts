/**
 * The environment of shells. Owns which variables of the server they do not get and which they always get.
 */

/** The server's own configuration is none of the agent's business. */
const WITHHELD = /^(OH_|PARLEY_)|^SESSION_API_KEY$/;

/** No pager and no prompt: there is no terminal that could answer one. */
const FIXED = {
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  PAGER: 'cat',
  TERM: 'dumb',
} as const;

export function shellEnvironment(secrets: Readonly<Record<string, string>>): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !WITHHELD.test(name)) environment[name] = value;
  }
  return { ...environment, ...FIXED, ...secrets };
}
