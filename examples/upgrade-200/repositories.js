/**
 * Makes the Git repositories of the example: one bare repository with one commit for each row of the catalogue.
 * Owns their history: author, date and configuration are fixed, so the commits are the same everywhere and always.
 *
 * As a program, `node repositories.js FOLDER [COUNT]`: makes FOLDER/OWNER/NAME.git for each row, or the first ones.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { catalogue, filesOf } from './catalogue.js';

const GIT_ENVIRONMENT = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: os.devNull,
  GIT_CONFIG_NOSYSTEM: '1',
};
const WHO = 'Acme <platform@example.com> 1767225600 +0000';

/**
 * One that is there with the same content stays as it is; returns how many were made. `count` makes the first only.
 * @throws Error Git is missing or fails
 */
export function makeRepositories(folder, count = Infinity) {
  const root = path.resolve(folder);
  mkdirSync(root, { recursive: true });
  const aside = path.join(root, `.new-${process.pid}`);
  try {
    const empty = path.join(aside, 'empty.git');
    let made = 0;
    for (const [index, row] of catalogue().slice(0, count).entries()) {
      const history = historyOf(row, index);
      // Whoever looks at the repository sees it too: which content this is.
      const mark = `${row.repo} ${createHash('sha256').update(history).digest('hex')}\n`;
      const place = path.join(root, `${row.repo}.git`);
      if (descriptionOf(place) === mark) continue;
      if (made === 0) git(['init', '--quiet', '--bare', '--initial-branch=main', '--template=', empty]);
      makeRepository({ place, empty, aside, history, mark });
      made += 1;
    }
    return made;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** Built beside its place and moved there whole: a run that is killed leaves no half repository. */
function makeRepository({ place, empty, aside, history, mark }) {
  const built = path.join(aside, 'repository.git');
  cpSync(empty, built, { recursive: true });
  git([`--git-dir=${built}`, 'fast-import', '--quiet'], history);
  writeFileSync(path.join(built, 'description'), mark);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(path.dirname(place), { recursive: true });
  renameSync(built, place);
}

/** One commit, in the language of `git fast-import`. */
function historyOf(row, index) {
  const files = Object.entries(filesOf(row, index));
  return [
    'commit refs/heads/main',
    `author ${WHO}`,
    `committer ${WHO}`,
    data('Begin'),
    ...files.flatMap(([name, text]) => [`M 100644 inline ${name}`, data(text)]),
    'done\n',
  ].join('\n');
}

function data(text) {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}

function descriptionOf(place) {
  try {
    return readFileSync(path.join(place, 'description'), 'utf8');
  } catch {
    return null;
  }
}

function git(args, input = '') {
  const result = spawnSync('git', args, { env: GIT_ENVIRONMENT, encoding: 'utf8', input });
  if (result.error?.code === 'ENOENT') throw new Error('Cannot make repositories: Git is not installed');
  if (result.error !== undefined) throw result.error;
  if (result.status !== 0)
    throw new Error(`Cannot make repositories: git ended with ${result.status}: ${result.stderr.trim()}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , folder = '.', count = Infinity] = process.argv;
  process.stdout.write(`${makeRepositories(folder, Number(count))} made\n`);
}
