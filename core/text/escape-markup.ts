/**
 * Text on its way into a page, so that none of it is read as markup.
 * Owns the five characters of HTML; what a page does with controls and marks is the page's business.
 */

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For text, and for attributes in quotes of either kind. */
export function escapeMarkup(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
