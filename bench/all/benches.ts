/**
 * What is measured for docs/bench.md, one line for each start of a bench.
 * Owns the selection: small enough for the minutes that all of it may take; the most important benches come first.
 */
export const BENCHES: readonly string[] = [
  'engine --only grouped,single --repeats 5',
  'engine --only run --repeats 3',
  'engine --only run --repeats 1 --conversations 10000',
  'temporal --only history,cost,speed,policy --conversations 60 --repeats 1',
  'simulator',
  'start-up',
  'dsl',
  'proxy --pairs 3 --seconds 2',
  'ready --count 10',
  'runtimes --count 20',
  'runtimes --count 20 --runtime docker',
  'api --rounds 3',
  'api --rounds 3 --store postgres',
  'idle-streams --seconds 10',
  'reconcile',
];

/** The benches that the user selects, or all of them. @throws Error an unknown name */
export function chosen(only: string | undefined, without: string | undefined): readonly string[] {
  const names = new Set(BENCHES.map(nameOf));
  const [wanted, left] = [only, without].map((text) => text?.split(',') ?? []);
  const unknown = [...(wanted ?? []), ...(left ?? [])].find((name) => !names.has(name));
  if (unknown !== undefined)
    throw new Error(`Cannot measure "${unknown}": the benches of all are ${[...names].join(', ')}`);
  return BENCHES.filter(
    (one) => (only === undefined || wanted?.includes(nameOf(one))) && !left?.includes(nameOf(one)),
  );
}

/** Its file is bench/NAME.ts. */
export function nameOf(command: string): string {
  return command.split(' ')[0] ?? '';
}
