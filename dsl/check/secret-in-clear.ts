/**
 * Whether a text of the file is probably the value of a secret.
 * Owns the guess; what it flags is never quoted, and the printer masks it (D20).
 */

/** Prefixes that issuers of tokens chose so that they can be recognised. */
const TOKEN_PREFIX = /^(?:gh[opsur]_|github_pat_|gl[a-z]{2,5}-|sk-|xox[a-z]-|AKIA|eyJ|-----BEGIN)/;
/** Of those that are looked for inside a longer text: what a token begins with, as the source of a pattern. */
export const TOKEN_START = String.raw`(?:gh[opsur]_|github_pat_|glpat-|sk-|xox[a-z]-|AKIA|eyJ)`;
/** Long enough not to be a word. */
const TOKEN = new RegExp(String.raw`${TOKEN_START}[A-Za-z0-9_.-]{16,}`, 'g');
/** A name that a person chose is rarely this long and rarely mixes cases and digits. */
const NAME_LENGTH_MAX = 24;

/** True for a known prefix of tokens, and for a long text with digits and letters that is no name. */
export function looksLikeSecret(text: string): boolean {
  if (TOKEN_PREFIX.test(text)) return true;
  return (
    text.length > NAME_LENGTH_MAX && /\d/.test(text) && /[a-zA-Z]/.test(text) && !/^[A-Z0-9_]+$/.test(text)
  );
}

/** The text with every recognised token as asterisks, of the same length so that columns stay. */
export function maskTokens(text: string): string {
  return text.replace(TOKEN, (token) => '*'.repeat(token.length));
}
