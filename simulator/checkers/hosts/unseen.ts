/**
 * What was added to a list since it was last looked at.
 * Owns the place reached; the list only grows.
 */
export function unseen<Entry>(): (list: readonly Entry[]) => readonly Entry[] {
  let seen = 0;
  return (list) => {
    if (list.length === seen) return [];
    const added = list.slice(seen);
    seen = list.length;
    return added;
  };
}
