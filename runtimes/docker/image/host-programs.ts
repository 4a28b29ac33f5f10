/**
 * Which programs of this host go into the image that is made of them.
 * Owns the list; what this host does not have is left out. Programs that change users, mount or reboot are not in it.
 */

const SHELL = [
  'sh',
  'bash',
  'dash',
  'env',
  'printenv',
  'echo',
  'printf',
  'true',
  'false',
  'test',
  '[',
  'expr',
];
const FILES = [
  ...[
    'cat',
    'ls',
    'cp',
    'mv',
    'rm',
    'mkdir',
    'rmdir',
    'ln',
    'chmod',
    'chown',
    'touch',
    'stat',
    'du',
    'df',
    'dd',
  ],
  ...[
    'mktemp',
    'mkfifo',
    'mknod',
    'readlink',
    'realpath',
    'basename',
    'dirname',
    'truncate',
    'install',
    'sync',
  ],
  ...['find', 'xargs', 'file', 'tree', 'dircolors'],
];
const TEXT = [
  ...[
    'head',
    'tail',
    'wc',
    'sort',
    'uniq',
    'cut',
    'tr',
    'tee',
    'split',
    'csplit',
    'paste',
    'join',
    'comm',
    'nl',
  ],
  ...[
    'od',
    'tac',
    'rev',
    'fold',
    'fmt',
    'pr',
    'column',
    'expand',
    'unexpand',
    'shuf',
    'seq',
    'numfmt',
    'tsort',
  ],
  ...[
    'grep',
    'egrep',
    'fgrep',
    'rg',
    'sed',
    'awk',
    'mawk',
    'gawk',
    'diff',
    'diff3',
    'cmp',
    'sdiff',
    'patch',
    'ed',
  ],
  ...['less', 'more', 'vi', 'nano', 'jq', 'bc', 'dc', 'xxd', 'hexdump', 'strings', 'iconv', 'm4'],
];
const SUMS = [
  ...['md5sum', 'sha1sum', 'sha224sum', 'sha256sum', 'sha384sum', 'sha512sum', 'b2sum', 'cksum', 'base32'],
  ...['base64', 'basenc', 'openssl'],
];
const PACKED = [
  'tar',
  'gzip',
  'gunzip',
  'zcat',
  'bzip2',
  'bunzip2',
  'xz',
  'unxz',
  'xzcat',
  'zstd',
  'zip',
  'unzip',
];
const PROCESSES = [
  ...[
    'id',
    'whoami',
    'groups',
    'date',
    'sleep',
    'timeout',
    'nproc',
    'nice',
    'nohup',
    'stdbuf',
    'time',
    'which',
  ],
  ...['ps', 'top', 'kill', 'pgrep', 'pkill', 'free', 'uptime', 'uname', 'hostname', 'setsid', 'flock', 'tty'],
  ...['stty', 'getopt', 'unshare', 'lsof', 'watch', 'getent', 'ldd', 'locale', 'pwd', 'yes', 'cal', 'factor'],
];
const WORK = ['git', 'make', 'perl', 'python3', 'curl', 'wget', 'ssh', 'ssh-keygen', 'rsync', 'sqlite3'];

/** Sought on the search path of the system, each once. */
export const HOST_PROGRAMS: readonly string[] = [
  ...new Set([...SHELL, ...FILES, ...TEXT, ...SUMS, ...PACKED, ...PROCESSES, ...WORK]),
];

export const HOST_SEARCH_PATH = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** Arguments that make a program print the directories it cannot do without; a line each. */
export const TREES_OF_PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  git: ['--exec-path'],
  perl: ['-e', 'print join("\\n", grep { m{/perl|-base$} && !m{^/(usr/local|etc)} } @INC)'],
  python3: ['-c', 'import sysconfig; print(sysconfig.get_path("stdlib"))'],
};
/** Beside those: certificates, templates, rules of the character sets, kinds of terminals. */
export const FURTHER_TREES = [
  ...[
    '/etc/ssl/certs',
    '/usr/share/git-core',
    '/usr/lib/locale/C.utf8',
    '/usr/share/terminfo',
    '/lib/terminfo',
  ],
];
/** Parts of those directories that no agent runs. */
export const LEFT_OUT =
  /\/(__pycache__|test|tests|idlelib|ensurepip|dist-packages|config-3[^/]*|CORE|pod|auto\/Encode\/(JP|KR|CN|TW))$/;
