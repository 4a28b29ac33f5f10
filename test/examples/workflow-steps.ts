/**
 * The scripts of a workflow file, run as a runner runs them: with bash, step by step, in a folder of their own.
 * Owns the runner's rules that the files of examples/ci/ rest on: shells, environments, outputs, and which steps follow a
 * failure. Must not assert.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

type Variables = Readonly<Record<string, string>>;

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Runs one script with bash as both runners do, once it is a file. */
export async function runScript(
  script: string,
  { cwd, env, flags }: { readonly cwd: string; readonly env: Variables; readonly flags: readonly string[] },
): Promise<Ran> {
  const file = path.join(cwd, '..', 'step.sh');
  writeFileSync(file, script);
  const child = spawn('bash', [...flags, file], { cwd, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (ended) => resolve(ended ?? -1));
  });
  return { code, output };
}

interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly env?: Variables;
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly env?: Variables; readonly steps: readonly Step[] }>>;
}

export interface GithubRun {
  readonly file: string;
  readonly job: string;
  readonly cwd: string;
  readonly env: Variables;
  /** Values of expressions, by their texts; one that is not there is an error. */
  readonly values: Variables;
}

/** How the job ended, which steps ran, and what they said. A step that uses an action is only named. */
export async function runGithubJob(job: GithubRun): Promise<Ran & { readonly steps: readonly string[] }> {
  const { jobs } = parse(readFileSync(job.file, 'utf8')) as Workflow;
  const { env: ofJob = {}, steps = [] } = jobs[job.job] ?? {};
  const values: Record<string, string> = { ...job.values };
  const outputs = path.join(job.cwd, '..', 'outputs');
  const ran: string[] = [];
  let [code, output] = [0, ''];
  for (const step of steps) {
    if (code !== 0 && !(step.if ?? '').includes('always()')) continue;
    ran.push(step.name ?? step.uses ?? '');
    if (step.run === undefined) continue;
    writeFileSync(outputs, '');
    const env = { ...job.env, ...filled({ ...ofJob, ...step.env }, values), GITHUB_OUTPUT: outputs };
    // As GitHub says for a step without `shell`.
    const ended = await runScript(step.run, { cwd: job.cwd, env, flags: ['-e'] });
    output += ended.output;
    if (ended.code !== 0 && code === 0) code = ended.code;
    for (const [, name = '', value = ''] of readFileSync(outputs, 'utf8').matchAll(/^(\w+)=(.*)$/gm))
      values[`steps.${step.id ?? ''}.outputs.${name}`] = value;
  }
  return { code, output, steps: ran };
}

function filled(env: Variables, values: Variables): Variables {
  const fill = (text: string): string =>
    text.replaceAll(/\$\{\{ *(.*?) *\}\}/g, (_, expression: string) => {
      const value = values[expression];
      if (value === undefined) throw new Error(`Cannot run the step: nobody says what "${expression}" is`);
      return value;
    });
  return Object.fromEntries(Object.entries(env).map(([name, text]) => [name, fill(text)]));
}

interface GitlabJob {
  readonly variables?: Variables;
  readonly before_script?: readonly string[];
  readonly script: readonly string[];
}

/** The scripts of a job of GitLab in one shell, which ends at the first command that fails. */
export async function runGitlabJob(job: {
  readonly file: string;
  readonly job: string;
  readonly cwd: string;
  readonly env: Variables;
}): Promise<Ran> {
  const jobs = parse(readFileSync(job.file, 'utf8')) as Readonly<Record<string, GitlabJob>>;
  const { variables = {}, before_script: before = [], script = [] } = jobs[job.job] ?? {};
  const known: Record<string, string> = { ...job.env };
  for (const [name, text] of Object.entries(variables))
    known[name] = text.replaceAll(/\$(\w+)/g, (_, used: string) => known[used] ?? '');
  const text = ['set -eo pipefail', ...before, ...script].join('\n');
  return await runScript(text, { cwd: job.cwd, env: known, flags: [] });
}
