/**
 * "Did you mean": the nearest of a few known names.
 * Owns the distance and the question; must not know what the names stand for.
 */
import { quote } from '../read/quote.ts';

/** Two slips of the finger; three turn one word into another. */
const DISTANCE_MAX = 2;

/** The known name nearest to `name`, or null. Case and the difference between `-` and `_` cost nothing. */
export function nearestName(name: string, known: readonly string[]): string | null {
  let best: { readonly name: string; readonly distance: number } | null = null;
  for (const candidate of known) {
    const distance = editDistance(fold(name), fold(candidate));
    if (distance > allowedDistance(candidate)) continue;
    if (best === null || distance < best.distance) best = { name: candidate, distance };
  }
  return best?.name ?? null;
}

/** The question about the nearest of the known names; `otherwise` when none is near. */
export function didYouMean(name: string, known: readonly string[], otherwise: string): string {
  const near = nearestName(name, known);
  return near === null ? otherwise : `did you mean ${quote(near)}?`;
}

/** Short names are near to everything: three letters get one slip, fewer none. */
function allowedDistance(candidate: string): number {
  if (candidate.length <= 2) return 0;
  return candidate.length === 3 ? 1 : DISTANCE_MAX;
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

/** Damerau-Levenshtein (optimal string alignment): insert, delete, replace, or swap two neighbours. */
export function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > DISTANCE_MAX) return DISTANCE_MAX + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      const insert = (current[column - 1] ?? 0) + 1;
      const remove = (last[column] ?? 0) + 1;
      const replace = (last[column - 1] ?? 0) + cost;
      let least = Math.min(insert, remove, replace);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
