/** A workflow whose first activation takes a second or more, within a promise. Runs in the workflow sandbox of a test. */
const STEPS = 400_000_000;

export async function longActivation(): Promise<number> {
  await Promise.resolve();
  let steps = 0;
  while (steps < STEPS) steps += 1;
  return steps;
}
