/**
 * Text of any user of a code host as text, and nothing more (D31).
 * Owns what is taken out, and the cut; must not know what the text is for.
 */

/**
 * Control characters, which draw on terminals, characters that turn the direction of writing, which show another text than
 * there is, and halves of pairs, which no store keeps.
 */
const UNSEEN =
  // eslint-disable-next-line no-control-regex -- these are what is taken out
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** With `\n` at the ends of lines. What is longer than the bound is cut, and says so. */
export function plainText(text: string, charsMax: number): string {
  const clean = text.replaceAll(/\r\n?/g, '\n').replaceAll(UNSEEN, '');
  if (clean.length <= charsMax) return clean;
  return `${clean.slice(0, charsMax).replace(/[\uD800-\uDBFF]$/, '')}\n[cut: it has ${clean.length} characters]`;
}

/** The same in one line. */
export function plainLine(text: string, charsMax: number): string {
  const line = plainText(text.slice(0, 4 * charsMax), 4 * charsMax)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length <= charsMax ? line : `${line.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** An address that a person may follow; empty for anything else. */
export function plainAddress(text: string, charsMax: number): string {
  if (text.length > charsMax || !/^https?:\/\/[^\s"<>\\]+$/.test(text) || !URL.canParse(text)) return '';
  const { username, password, href } = new URL(text);
  return username === '' && password === '' ? href : '';
}
