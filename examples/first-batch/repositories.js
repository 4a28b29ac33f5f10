/**
 * Makes the three Git repositories of the example from the packages that are installed here.
 * Owns which packages they are and what their first commit holds: the published files, licence included, and the
 * test of the task. The same packages give the same commits, whoever runs this and when. Nothing is downloaded.
 *
 * As a program, `node repositories.js FOLDER`: prints the commits as JSON.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const HERE = import.meta.dirname;
const MODULES = path.resolve(HERE, '../../node_modules');
/** Repositories are named OWNER/PACKAGE. */
const OWNER = 'npm';
const PACKAGES = ['commander', 'ms', 'yaml'];

/** Author, date and configuration are fixed, so that the commit's id depends on its files alone. */
const GIT_ENVIRONMENT = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: os.devNull,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'First Batch',
  GIT_AUTHOR_EMAIL: 'first-batch@example.com',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'First Batch',
  GIT_COMMITTER_EMAIL: 'first-batch@example.com',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

/**
 * Makes FOLDER/npm/NAME.git for each package; one that is there and has the same commit stays as it is.
 * Returns repository name → commit.
 * @throws Error a package is not installed, or Git is missing or fails
 */
export function makeRepositories(folder) {
  const root = path.resolve(folder);
  return Object.fromEntries(PACKAGES.map((name) => [`${OWNER}/${name}`, makeRepository(root, name)]));
}

/** Built beside its place and moved there whole: a run that is killed leaves no half repository. */
function makeRepository(root, name) {
  const place = path.join(root, OWNER, `${name}.git`);
  const aside = path.join(root, `.new-${process.pid}-${name}`);
  const files = path.join(aside, 'files');
  const repository = path.join(aside, 'repository.git');
  try {
    copySources(name, files);
    const commit = commitAll(repository, files, name);
    if (headOf(place) === commit) return commit;
    rmSync(place, { recursive: true, force: true });
    mkdirSync(path.dirname(place), { recursive: true });
    renameSync(repository, place);
    return commit;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** The package as it was published, without packages of its own, and the files of the task. */
function copySources(name, files) {
  const source = realpathSync(path.join(MODULES, name));
  const published = (file) => !path.relative(source, file).split(path.sep).includes('node_modules');
  cpSync(source, files, { recursive: true, filter: published });
  cpSync(path.join(HERE, 'tasks', name), files, { recursive: true });
}

function commitAll(repository, files, name) {
  const { version } = JSON.parse(readFileSync(path.join(files, 'package.json'), 'utf8'));
  git(['init', '--quiet', '--bare', '--initial-branch=main', '--template=', repository]);
  writeFileSync(path.join(repository, 'description'), `${name} ${version} as published, and a test\n`);
  const inside = [`--git-dir=${repository}`, `--work-tree=${files}`, '-c', 'core.bare=false'];
  // File modes and line ends are those of the files' content, not of this machine.
  const plain = ['-c', 'core.fileMode=false', '-c', 'core.autocrlf=false'];
  git([...inside, ...plain, 'add', '--all', '--force', '.'], files);
  const message = `${name} ${version} as published, and a test of what is wanted`;
  git([...inside, 'commit', '--quiet', '--message', message], files);
  return git([`--git-dir=${repository}`, 'rev-parse', 'main']).trim();
}

/** The commit of an existing repository; null when there is none. */
function headOf(repository) {
  const args = [`--git-dir=${repository}`, 'rev-parse', '--verify', '--quiet', 'main'];
  const { status, stdout } = spawnSync('git', args, { env: GIT_ENVIRONMENT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

function git(args, cwd) {
  const result = spawnSync('git', args, { env: GIT_ENVIRONMENT, encoding: 'utf8', cwd });
  if (result.error?.code === 'ENOENT') throw new Error('Cannot make repositories: Git is not installed');
  if (result.error !== undefined) throw result.error;
  if (result.status === 0) return result.stdout;
  throw new Error(`Cannot make repositories: git ended with ${result.status}: ${result.stderr.trim()}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.stdout.write(`${JSON.stringify(makeRepositories(process.argv[2] ?? '.'))}\n`);
}
