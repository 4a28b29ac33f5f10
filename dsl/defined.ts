/**
 * Records without the fields that the caller left undefined.
 * Owns the difference between an absent key, which keeps a default, and one that is undefined.
 */
type Defined<Fields> = { readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** The same record without the keys that are undefined. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<Fields>;
}
