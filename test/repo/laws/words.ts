/**
 * Words that must not be in any file: leftovers, and traces of one machine.
 * The words are put together here, so that this file does not hold them.
 */
import { isTestData, topFolder, type RepoFile, type Tree, type Violation } from '../tree.ts';

const join = (...parts: readonly string[]): string => parts.join('');

const MARKERS = [join('TO', 'DO'), join('FIX', 'ME'), join('X', 'XX'), join('HA', 'CK')];

interface Ban {
  readonly pattern: RegExp;
  readonly problem: string;
  /** Folders it applies to; null for every file. */
  readonly productOnly: boolean;
  /** What TypeScript holds, not the words of a page. */
  readonly namesOnly?: boolean;
}

/** A slash that begins an absolute path, not one in the middle of a relative path or an address. */
const START = '(?<![\\w.\\-$}*/~)>])';

const BANS: readonly Ban[] = [
  {
    pattern: new RegExp(join('\\b(', MARKERS.join('|'), ')\\b')),
    problem: 'a leftover marker; finish it, or say in a sentence what is not done and why',
    productOnly: false,
  },
  {
    pattern: new RegExp(join(START, '/wo', 'rk/')),
    problem: 'an absolute path of one machine; derive it from import.meta or a temporary folder',
    productOnly: false,
  },
  {
    pattern: new RegExp(join(START, '/ro', 'ot/')),
    problem: 'an absolute path of one machine; use os.homedir()',
    productOnly: false,
  },
  {
    pattern: new RegExp(join(START, '/ho', 'me/[a-z][\\w-]*/')),
    problem: 'an absolute path of one machine; use os.homedir()',
    productOnly: true,
  },
  {
    pattern: new RegExp(
      join('registry\\.np', 'mjs|registry\\.yarn', 'pkg|py', 'pi\\.org|files\\.python', 'hosted'),
    ),
    problem: 'the host of a package registry; leave the choice to the package manager',
    productOnly: false,
  },
  {
    pattern: new RegExp(join('\\.\\./sha', 'red\\b|(?<![\\w-])/sha', 'red/')),
    problem: 'a folder outside the repository; restate what is needed here',
    productOnly: false,
  },
  {
    // What the actors of this system were called before they had the words of their field: envelope, spec, init,
    // directive, request, BatchCommitter, CommandDispatcher, rollback, rebase, report, send, eventLoopTick.
    pattern: new RegExp(
      join(
        '\\b(?:\\w+(?:Bir',
        'th|Bo',
        'rn|Wi',
        'sh|Let',
        'ter)(?:e?s|ed)?(?:[A-Z]\\w*)?',
        '|(?:bir',
        'ths?|bo',
        'rn|wi',
        'sh(?:es|ed)?|let',
        'ters?)[A-Z]\\w*|Announ',
        'cer|[hH]and(?:ed)?',
        'Out|to',
        'ld(?:Activities|Events|Watch)|To',
        'ld(?:By|Wait)|ShardTo',
        'ld|te',
        'll(?:Sandbox|Conversation|Ready|Wait|Waiting|SoftLimit|Full)|endOfTu',
        'rn|inTu',
        'rns)\\b',
      ),
    ),
    problem: 'a word of a dialect; docs/glossary.md has the one that is used',
    productOnly: false,
    namesOnly: true,
  },
  {
    pattern: new RegExp(join('(?:^\\s*/?\\*|(?<!:)//).*\\b(?:[Ww]ho', 'ever|[SsNn]o(?:me)?', 'body)\\b')),
    problem: 'an actor without a name in a comment; say who it is',
    productOnly: true,
    namesOnly: true,
  },
];

const NOT_PRODUCT = ['test', 'docs'];

/** What older versions wrote is read by its names of then, there and nowhere else. */
const FORMER_NAMES = [
  'core/machine/former-names.ts',
  'store/schema/present-names.ts',
  'test/core/former-names.test.ts',
  'test/store/former-names.test.ts',
];

export function bannedWords(tree: Tree): readonly Violation[] {
  return tree.filter((file) => !isTestData(file.path)).flatMap(checkFile);
}

function checkFile(file: RepoFile): readonly Violation[] {
  const isCode = /\.tsx?$/.test(file.path) && !FORMER_NAMES.includes(file.path);
  const bans = BANS.filter(
    ({ productOnly, namesOnly = false }) =>
      (!productOnly || !NOT_PRODUCT.includes(topFolder(file.path))) && (!namesOnly || isCode),
  );
  return file.text.split('\n').flatMap((line, index) =>
    bans.flatMap((ban) => {
      const hit = ban.pattern.exec(line)?.[0];
      return hit === undefined ? [] : [`${file.path}:${index + 1}: "${hit}" is ${ban.problem}`];
    }),
  );
}
