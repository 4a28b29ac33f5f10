/** Types of mutants.js, for its tests. */
interface Planted {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly detector?: string;
}
export interface Hunted {
  readonly name: string;
  readonly file: string | null;
  readonly detector: string;
  /** Null: nothing was found. */
  readonly seed: number | null;
  readonly finding: { readonly name: string; readonly problem: string } | null;
  readonly seconds: number;
}
export function patched(mutant: Planted, text: string): string;
export function sourceOf(mutant: Planted): string;
export function hunt(
  mutant: Planted,
  options?: { readonly seeds?: number; readonly from?: number; readonly skip?: readonly number[] },
): Promise<Hunted>;
export function runMutants(args: readonly string[]): Promise<number>;
