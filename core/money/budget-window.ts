/**
 * The window that the budget of a virtual key counts in: the proxy refuses by it, and every view of the key shows it.
 * Owns where a window begins; must not sum.
 */

/** Epoch milliseconds: the key's creation when it has no windows. */
export function budgetWindow(
  { createdAt, budgetWindowMs }: { readonly createdAt: number; readonly budgetWindowMs: number | null },
  now: number,
): number {
  if (budgetWindowMs === null) return createdAt;
  return createdAt + Math.max(0, Math.floor((now - createdAt) / budgetWindowMs)) * budgetWindowMs;
}
