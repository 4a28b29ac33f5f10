/**
 * How many inputs a border is fuzzed with: few in a whole run, as many as PARLEY_FUZZ says when somebody looks closer.
 * The seed is that of test/helpers/property-seed.ts.
 */
export function fuzzRuns(few: number): { readonly numRuns: number } {
  const asked = Number(process.env['PARLEY_FUZZ'] ?? few);
  return { numRuns: Number.isSafeInteger(asked) && asked > 0 ? asked : few };
}
