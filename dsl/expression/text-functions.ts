/**
 * Functions over text that the expressions of a job have beside those of the expression language.
 * Owns what they give; which phases have them is in the scopes.
 */

interface TextFunction {
  readonly name: string;
  of(text: string): string;
}

export const TEXT_FUNCTIONS: readonly TextFunction[] = [
  { name: 'slug', of: slug },
  { name: 'basename', of: basename },
];

/** Lower case, with a hyphen for everything that no key may hold: `Acme/Shop 2` → `acme-shop-2`. */
function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

/** What stands after the last slash: `acme/shop` → `shop`. */
function basename(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1);
}
