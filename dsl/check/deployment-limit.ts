/**
 * Names that other systems have for the idle limit, the deletion limit and the length of a session (D10).
 * Owns the names; what is said about them is the language's.
 */

const IDLE_OR_DELETION = /(?:idle|deletion|delete_?after|auto_?(?:delete|stop|pause)|max_?idle)/;
const SESSION = /(?:(?:max_?)?session)/;
const TAIL =
  /(?:_?(?:time|timeout|limit|length|duration|seconds|secs|minutes|hours|max|pause|after|ttl))*(?:_?(?:s|ms|seconds|minutes|hours))?/;

const LIMIT_OF_DEPLOYMENT = new RegExp(`^(?:${IDLE_OR_DELETION.source}|${SESSION.source})${TAIL.source}$`);
const LENGTH_OF_SESSION = new RegExp(`^${SESSION.source}${TAIL.source}$`);

/** Keys that other systems have for what D10 keeps out of a job. */
export function isDeploymentLimit(key: string): boolean {
  return LIMIT_OF_DEPLOYMENT.test(inSnakeCase(key));
}

/** Keys for the one limit that no user sets, not even an operator. */
export function isSessionLength(key: string): boolean {
  return LENGTH_OF_SESSION.test(inSnakeCase(key));
}

function inSnakeCase(key: string): string {
  return key
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll('-', '_');
}
