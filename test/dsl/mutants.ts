/**
 * Valid job and scenario files, and every single edit of them: a token deleted, renamed or of another type, a line
 * indented otherwise. Owns the files, the edits and the choice of some of them; must not judge the result of one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { jobWorld } from '../../host/job/job-file.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import type { Diagnostic } from '../../dsl/check/diagnostic.ts';
import { compileScenario } from '../../dsl/scenario/compile-scenario.ts';
import { FAULTS } from '../../simulator/faults/catalogue.ts';
import { testWorld, GOLDEN_FOLDER } from './test-world.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const NO_INPUTS = { typed: {}, values: {} };

export interface ValidFile {
  /** As it is shown. */
  readonly name: string;
  readonly text: string;
  compile(text: string | Uint8Array): readonly Diagnostic[];
}

export interface Mutant {
  readonly file: ValidFile;
  readonly what: string;
  /** Counts from 1. */
  readonly line: number;
  readonly text: string;
}

/** The valid files of the golden folder, and all of examples/. */
export function validFiles(): ValidFile[] {
  const golden = readdirSync(path.join(GOLDEN_FOLDER, 'ok'))
    .filter((file) => file.endsWith('.yaml'))
    .map((file): ValidFile => {
      const name = `ok/${file}`;
      const text = readFileSync(path.join(GOLDEN_FOLDER, name), 'utf8');
      return {
        name,
        text,
        compile: (given) => compileJob({ path: 'job.yaml', text: given }, testWorld).diagnostics,
      };
    });
  return [...golden, ...exampleFiles()];
}

function exampleFiles(): ValidFile[] {
  const folder = path.join(ROOT, 'examples');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .flatMap((file): ValidFile[] => {
      const text = readFileSync(path.join(folder, file), 'utf8');
      const kind = /^kind: (job|scenario)$/m.exec(text)?.[1];
      const name = `examples/${file}`;
      if (kind === 'job') return [{ name, text, compile: (given) => compileJobAt(name, given) }];
      return kind === 'scenario' ? [{ name, text, compile: (given) => compileScenarioAt(name, given) }] : [];
    });
}

function worldAt(file: string) {
  const shell = { cwd: ROOT, env: {} };
  return jobWorld({ shell, file, models: null, checksSecrets: false, inputs: NO_INPUTS });
}

function compileJobAt(file: string, text: string | Uint8Array): readonly Diagnostic[] {
  return compileJob({ path: file, text }, worldAt(file)).diagnostics;
}

function compileScenarioAt(file: string, text: string | Uint8Array): readonly Diagnostic[] {
  const readJob = (relativePath: string) => {
    const job = path.join(path.dirname(file), relativePath);
    try {
      const source = { path: job, text: readFileSync(path.join(ROOT, job)) };
      return { source, world: worldAt(job) };
    } catch {
      return { problem: 'missing' } as const;
    }
  };
  return compileScenario({ path: file, text }, { faults: Object.keys(FAULTS), readJob }).diagnostics;
}

/** Words, quotes, brackets, colons and dashes; comments are left alone. */
const TOKEN = /[A-Za-z0-9_./@-]+|\$\{\{|\}\}|["'[\]{}:,|&*-]/g;
/** What stands for a value of another type. */
const RETYPED = ['7', 'true', '[]', '{}', '"a word"', 'null'];

/** Every single edit of a file, in the order of its lines. */
export function mutantsOf(file: ValidFile): Mutant[] {
  const lines = file.text.split('\n');
  return lines.flatMap((source, at) => {
    const code = source.replace(/(^|\s)#.*$/, (comment) => ' '.repeat(comment.length));
    const mutant = (what: string, changed: string): Mutant => ({
      file,
      what,
      line: at + 1,
      text: lines.with(at, changed).join('\n'),
    });
    const tokens = [...code.matchAll(TOKEN)].flatMap((match) => tokenMutants(match, source, mutant));
    return code.trim() === '' ? tokens : [...tokens, ...indented(source, mutant)];
  });
}

type Make = (what: string, changed: string) => Mutant;

function tokenMutants(match: RegExpExecArray, source: string, mutant: Make): Mutant[] {
  const [token] = match;
  const before = source.slice(0, match.index);
  const after = source.slice(match.index + token.length);
  const isWord = /^[A-Za-z0-9]/.test(token);
  const isValue = isWord && !/^\s*:/.test(after);
  return [
    mutant(`delete ${token}`, before + after),
    ...(isWord && /^[A-Za-z]/.test(token) ? [mutant(`rename ${token}`, `${before}${token}qq${after}`)] : []),
    ...(isValue ? RETYPED : [])
      .filter((other) => other !== token)
      .map((other) => mutant(`retype ${token} as ${other}`, before + other + after)),
  ];
}

function indented(source: string, mutant: Make): Mutant[] {
  return [
    mutant('indent', `  ${source}`),
    mutant('indent by one', ` ${source}`),
    mutant('tab', `\t${source}`),
    ...(source.startsWith('  ') ? [mutant('outdent', source.slice(2))] : []),
  ];
}

/** `count` of them, spread by a seed; all of them where there are no more. The same seed gives the same ones. */
export function chosen<T>(all: readonly T[], count: number, seed: number): T[] {
  const left = [...all];
  let state = seed >>> 0;
  const taken: T[] = [];
  while (taken.length < count && left.length > 0) {
    // A linear congruential generator: which mutants are taken matters less than that they are the same again.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const at = Math.floor((state / 2 ** 32) * left.length);
    const last = left.length - 1;
    const one = left[at] as T;
    left[at] = left[last] as T;
    left.pop();
    taken.push(one);
  }
  return taken;
}
