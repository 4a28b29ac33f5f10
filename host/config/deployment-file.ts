/**
 * `parley.yaml` as a positioned tree: where it is found, how it is read, what is wrong with it as YAML.
 * Owns finding and parsing; must not know a key of it.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { decodeSource } from '../../dsl/read/decode-source.ts';
import type { Diagnostic } from '../../dsl/check/diagnostic.ts';
import { parseYaml } from '../../dsl/read/parse-yaml.ts';
import { JOB_LANGUAGE } from '../../dsl/job-language.ts';
import { createReport, type Report } from '../../dsl/check/report.ts';
import { indexLines, type LineIndex } from '../../dsl/read/text-position.ts';
import type { Tree } from '../../dsl/read/tree.ts';
import type { Problem } from './problem.ts';
import { revisionOf } from './text-revision.ts';

export const CONFIG_FILE = 'parley.yaml';

export interface DeploymentFile {
  /** Absolute. */
  readonly path: string;
  /** As it is shown in messages. */
  readonly shown: string;
  /** Names the text that was read. */
  readonly revision: string;
  /** Without a mark at its beginning; empty when it is no text. */
  readonly text: string;
  readonly lines: LineIndex;
  /** Null when it is empty, or broken as YAML. */
  readonly tree: Tree | null;
  readonly problems: readonly Problem[];
}

/** The file that was named, else the nearest `parley.yaml` upward from `cwd`; null when there is none. */
export function findDeploymentFile(named: string | null, cwd: string): string | null {
  if (named !== null) return path.resolve(cwd, named);
  for (let folder = path.resolve(cwd); ; folder = path.dirname(folder)) {
    const file = path.join(folder, CONFIG_FILE);
    if (existsSync(file)) return file;
    if (path.dirname(folder) === folder) return null;
  }
}

/** Never throws: a file that cannot be read is a problem. */
export function readDeploymentFile(file: string, cwd: string): DeploymentFile {
  const shown = showPath(file, cwd);
  try {
    return parse(file, shown, readFileSync(file));
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : String(error);
    const problem: Problem = {
      severity: 'error',
      area: 'deployment',
      file: shown,
      line: null,
      column: null,
      message: `Cannot read the configuration "${shown}": ${reason}`,
      remedy: 'name another file with --config, or write one with "parley init"',
    };
    return {
      path: file,
      shown,
      revision: revisionOf(''),
      text: '',
      lines: indexLines(''),
      tree: null,
      problems: [problem],
    };
  }
}

/** A path inside the working folder is shown relative to it. */
export function showPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative === '' || relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}

export function readDeploymentText(text: string, shown: string): DeploymentFile {
  return parse('', shown, Buffer.from(text, 'utf8'));
}

function parse(file: string, shown: string, bytes: Buffer): DeploymentFile {
  const revision = revisionOf(bytes.toString('utf8'));
  const decoded = decodeSource(bytes);
  if (!decoded.ok) {
    const { message, remedy, line } = decoded;
    const problem = toProblem({ file: shown, line, column: 1, message, remedy, severity: 'error' });
    return { path: file, shown, revision, text: '', lines: indexLines(''), tree: null, problems: [problem] };
  }
  const report = createReport(shown, decoded.text, JOB_LANGUAGE);
  const tree = readTree(report);
  const findings = report.diagnostics().filter((finding) => finding.code !== 'JOB105');
  const { text } = decoded;
  return { path: file, shown, revision, text, lines: report.lines, tree, problems: findings.map(toProblem) };
}

function readTree(report: Report): Tree | null {
  const tree = parseYaml(report);
  return report.hasErrors() ? null : tree;
}

type Finding = Pick<Diagnostic, 'file' | 'line' | 'column' | 'message' | 'remedy' | 'severity'>;

/** The parser is that of jobs; where it names its document, this one is meant. */
function toProblem({ file, line, column, message, remedy, severity }: Finding): Problem {
  return {
    severity,
    area: 'deployment',
    file,
    line,
    column,
    message: inOtherWords(message),
    remedy: remedy === null ? null : inOtherWords(remedy),
  };
}

function inOtherWords(text: string): string {
  return text
    .replace('put shared settings under "defaults", or name', 'name')
    .replaceAll('the job language', 'the configuration')
    .replaceAll('one file is one job', 'one file is one deployment')
    .replaceAll('a job file', 'a configuration file')
    .replaceAll('a job needs', 'a configuration needs');
}
