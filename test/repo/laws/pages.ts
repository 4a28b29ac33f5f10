/**
 * The pages and the repository agree: commands exist, folders are mapped, each page has one title, CI runs what the
 * README says.
 */
import { codeIn, proseLines } from '../markdown.ts';
import { fileAt, isMarkdown, topFolder, type Tree, type Violation } from '../tree.ts';

/** Commands of npm itself. */
const NPM_WORDS = ['ci', 'install'];

/** `npm start`, `npm test`, `npm run x` in README and CONTRIBUTING, as code or alone on a line, are scripts of package.json. */
export function commandsExist(tree: Tree): readonly Violation[] {
  const scripts = readScripts(tree);
  return ['README.md', 'CONTRIBUTING.md'].flatMap((name) => {
    const lines = (fileAt(tree, name)?.text ?? '').split('\n');
    return lines.flatMap((line, index) =>
      [...line.matchAll(/(?:^|`)npm (?:run )?([a-z][a-z0-9:-]*)/g)]
        .map((match) => match[1] ?? '')
        .filter((script) => !scripts.includes(script) && !NPM_WORDS.includes(script))
        .map((script) => `${name}:${index + 1}: "npm run ${script}" is no script of package.json`),
    );
  });
}

function readScripts(tree: Tree): readonly string[] {
  const text = fileAt(tree, 'package.json')?.text ?? '{}';
  const scripts: unknown = (JSON.parse(text) as { readonly scripts?: unknown }).scripts ?? {};
  return Object.keys(scripts as object);
}

/** The README names one test command, and it is the last thing that .ci/run does. */
export function ciRunsReadme(tree: Tree): readonly Violation[] {
  const readme = fileAt(tree, 'README.md')?.text ?? '';
  const command = /^(npm (?:run )?test)\b.*$/m.exec(readme)?.[1] ?? null;
  if (command === null) return ['README.md: no line with the test command'];
  const last = (fileAt(tree, '.ci/run')?.text ?? '').trimEnd().split('\n').at(-1) ?? '';
  return last === command
    ? []
    : [`.ci/run: the last line must be "${command}", as in README.md, and is "${last}"`];
}

/** Every top folder has a heading in the code map of ARCHITECTURE.md, and every heading a folder. */
export function foldersMapped(tree: Tree): readonly Violation[] {
  const page = fileAt(tree, 'ARCHITECTURE.md')?.text ?? '';
  const headings = proseLines(page).filter((line) => line.text.startsWith('### `'));
  const mapped = headings.flatMap((line) =>
    codeIn(line.text).map((code) => ({ line: line.line, folder: code.replace(/\/$/, '') })),
  );
  const existing = [...new Set(tree.map((file) => topFolder(file.path)))]
    .filter((folder) => folder !== '')
    .sort();
  const unmapped = existing
    .filter((folder) => !mapped.some((one) => one.folder === folder))
    .map((folder) => `${folder}/: not in the code map of ARCHITECTURE.md`);
  const gone = mapped
    .filter((one) => !tree.some((file) => file.path.startsWith(`${one.folder}/`)))
    .map((one) => `ARCHITECTURE.md:${one.line}: there is no folder ${one.folder}/`);
  return [...unmapped, ...gone];
}

/** Each folder of the code map says what must hold in it. */
export function invariantsStated(tree: Tree): readonly Violation[] {
  const page = fileAt(tree, 'ARCHITECTURE.md')?.text ?? '';
  return page
    .split(/^(?=#{1,3} )/m)
    .filter((section) => section.startsWith('### `') && !section.includes('**Invariant:**'))
    .map(
      (section) =>
        `ARCHITECTURE.md: ${codeIn(section)[0] ?? ''} has no line that begins with "**Invariant:**"`,
    );
}

/** One `#` title per page, in its first line. */
export function oneTitle(tree: Tree): readonly Violation[] {
  return tree
    .filter((file) => isMarkdown(file.path))
    .flatMap((file) => {
      const titles = proseLines(file.text).filter((line) => /^# /.test(line.text));
      if (titles.length === 1 && titles[0]?.line === 1) return [];
      return [`${file.path}: ${titles.length} titles; a page has one, in its first line`];
    });
}
