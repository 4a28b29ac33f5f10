/**
 * The job's `setup` as a script that keeps in the sandbox what it made, for the next conversation there.
 * Owns what is kept and when it still holds; only what Git ignores is, because the rest is work.
 */
import { quoted } from '../core/text/shell-word.ts';
import type { LaunchSetup } from './launch-facts.ts';

/** At the root of a repository; those that there are decide. */
const LOCK_FILES = [
  ...['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'],
  ...['uv.lock', 'poetry.lock', 'Pipfile.lock', 'pdm.lock', 'requirements.txt'],
  ...['Cargo.lock', 'go.sum', 'Gemfile.lock', 'composer.lock', 'mix.lock', 'gradle.lockfile'],
];
/** Beside the folders of conversations. */
const FOLDER = '.setup-cache';
/** Kept at once; the oldest goes first. */
const KEPT_MAX = 3;

/** Run in the working directory. Ends with the exit code of the command. */
export function cachedSetup({ command, cache }: LaunchSetup, workspaceDir: string): string {
  const run = `bash -c ${quoted(command)}`;
  const files = cache ?? LOCK_FILES;
  if (files.length === 0) return run;
  return [
    `folder=${quoted(`${workspaceDir}/${FOLDER}`)}`,
    'found=$(for f in ' +
      files.map(quoted).join(' ') +
      '; do if [ -f "$f" ]; then printf "%s\\n" "$f"; sha256sum < "$f"; fi; done)',
    // Without one of the files nothing says whether an old result still holds.
    `if [ -z "$found" ]; then ${run}; exit $?; fi`,
    `key=$(printf "%s\\n%s" ${quoted(command)} "$found" | sha256sum | cut -c1-64)`,
    'kept="$folder/$key.tar"',
    'if [ -f "$kept" ] && tar -xf "$kept"; then touch "$kept"; echo "setup: taken from an earlier conversation"; exit 0; fi',
    'before=$(git status --porcelain | sha256sum)',
    `${run} || exit $?`,
    // What keeps is a favour to the next one: it fails nothing.
    '{',
    '  list=$(mktemp)',
    '  git ls-files -z --others --ignored --exclude-standard --directory > "$list"',
    // A virtual environment names the folder it is in, which is another one for each conversation.
    '  if [ -s "$list" ] && [ "$before" = "$(git status --porcelain | sha256sum)" ] && [ -z "$(find . -maxdepth 3 -name pyvenv.cfg -print -quit)" ]; then',
    '    mkdir -p "$folder" && tar --null --files-from="$list" -cf "$kept.$$" && mv "$kept.$$" "$kept"',
    `    ls -1t "$folder"/*.tar | tail -n +${KEPT_MAX + 1} | while read -r old; do rm -f "$old"; done`,
    '  fi',
    '  rm -f "$list" "$kept.$$"',
    '} > /dev/null 2>&1 || true',
    'exit 0',
  ].join('\n');
}
