/**
 * Spares a quick command what only a long one gains from: code optimised that is about to end, and the maps of every
 * file that is loaded. Owns the list of quick commands; must not change what a command does.
 */
import v8 from 'node:v8';

/** Commands that read a file or two, answer, and end. */
const QUICK_COMMANDS: ReadonlySet<string | undefined> = new Set([
  'validate',
  'fmt',
  'plan',
  'simulate',
  'graph',
  'schema',
  'explain',
  'config',
  'init',
  'help',
  '--help',
  '-h',
  '--version',
  undefined,
]);
/**
 * How much a function runs, in bytes of bytecode, before V8 looks whether it is worth optimising. By its own figure it
 * optimises, and soon gives up again, whatever 200 conversations pass through: a quarter of the processor's time of a
 * quick command. Fifteen times as much still finds what is worth it.
 */
const PATIENT_BUDGET = 1_000_000;
/** V8's own figure. */
const USUAL_BUDGET = 66 * 1024;
/** Versions of Node whose V8 is known to take this flag; it would complain about one that it does not know. */
const NODE_MIN = 20;
const NODE_MAX = 24;

/**
 * Called once, before the command is loaded. `command` is what was typed first.
 * A report of a crash reads the maps by itself (crash-report.ts); a process that lives long may print a stack anywhere.
 */
export function startCold(command: string | undefined): void {
  if (QUICK_COMMANDS.has(command)) setBudget(PATIENT_BUDGET);
  else process.setSourceMapsEnabled(true);
}

/** For a quick command that turns out to have much to do. */
export function expectLongWork(): void {
  setBudget(USUAL_BUDGET);
}

function setBudget(bytes: number): void {
  const major = Number.parseInt(process.versions.node, 10);
  if (major >= NODE_MIN && major <= NODE_MAX) v8.setFlagsFromString(`--interrupt-budget=${bytes}`);
}
