/**
 * Many ways to the same files of the host: by every tool that an agent has, and by every name that a path has.
 * Owns the scripts; must not run them. None changes what others are after.
 */
import { ESCAPED, ifPrints, ifSucceeds } from './probe.ts';
import type { EscapeTargets, Probe } from './probe.ts';

type Script = (targets: EscapeTargets) => string;

/** Reads the secret of the host; `way` is a command that prints it. */
const reads = (name: string, way: (file: string, dir: string) => string): Probe => ({
  name: `reads a secret of the host ${name}`,
  script: ({ secretFile, hostDir, secret }) => ifPrints(way(secretFile, hostDir), secret),
  onPlain: 'escapes',
});

/** A folder of that name may be there, made by another attempt in the memory of its sandbox: it has no such file. */
const succeeds = (name: string, command: Script): Probe => ({
  name,
  script: (targets) => `test -s '${targets.secretFile}' && ${ifSucceeds(command(targets))}`,
  onPlain: 'escapes',
});

/** Opens for writing without making or changing anything. */
const opensForWriting = (file: string): Probe => ({
  name: `opens ${file} for writing`,
  script: () => `perl -e 'print "${ESCAPED}\\n" if open(my $f, "+<", "${file}")'`,
  onPlain: 'escapes_as_root',
});

/** Where programs, settings and what starts by itself lie. */
const makesIn = (dir: string, onPlain: Probe['onPlain']): Probe => ({
  name: `makes a file in ${dir}`,
  script: () => ifSucceeds(`sh -c 'f=$(mktemp ${dir}/probe-XXXXXX) && rm -f "$f"'`),
  onPlain,
});

const READING = [
  reads('by a copy of it', (file) => `cp '${file}' copied; cat copied; rm -f copied`),
  reads('by a block of it', (file) => `dd if='${file}'`),
  reads('by an archive of its folder', (_, dir) => `tar -cf - -C / '.${dir}'`),
  reads('by a search for it', (_, dir) => `grep -r . '${dir}'`),
  reads(
    'by a script of Node.js',
    (file) => `node -e "console.log(require('fs').readFileSync('${file}','utf8'))"`,
  ),
  reads(
    'by a stream of Node.js',
    (file) => `node -e "require('fs').createReadStream('${file}').pipe(process.stdout)"`,
  ),
  reads('by a script of Perl', (file) => `perl -ne print '${file}'`),
  reads('through its own root', (file) => `cat '/proc/self/root${file}'`),
  reads(
    'through its own working folder',
    (file) => `cat "/proc/self/cwd/../../../../../../../../../..${file}"`,
  ),
  reads('through the root of its parent', (file) => `cat "/proc/$PPID/root${file}"`),
  reads(
    'through a link to its folder',
    (_, dir) => `ln -sfn '${dir}' linked; cat linked/secret; rm -f linked`,
  ),
  reads('from within its folder', (_, dir) => `cd '${dir}' && cat secret`),
  reads('through a link to the root', (file) => `ln -sfn / top; cat "top${file}"; rm -f top`),
  reads('as standard input', (file) => `cat < '${file}'`),
  reads('as text of a script', (file) => `sh -c ". '${file}'; true" 2>&1`),
  reads('as a patch of Git', (file) => `git diff --no-index /dev/null '${file}'`),
] as const;

const CHANGING = [
  succeeds('changes the mode of a file of the host', ({ secretFile }) => `chmod u+r '${secretFile}'`),
  succeeds('changes the times of a file of the host', ({ secretFile }) => `touch -c '${secretFile}'`),
  succeeds(
    'changes the length of a file of the host',
    ({ secretFile }) => `truncate -c -s +0 '${secretFile}'`,
  ),
  succeeds('appends nothing to a file of the host', ({ secretFile }) => `sh -c ": >> '${secretFile}'"`),
  succeeds('asks for the size of a file of the host', ({ secretFile }) => `test -s '${secretFile}'`),
  succeeds(
    'makes a folder of the host',
    ({ hostDir }) => `sh -c "mkdir '${hostDir}/made' && rmdir '${hostDir}/made'"`,
  ),
  succeeds(
    'makes a pipe on the host',
    ({ hostDir }) => `sh -c "mkfifo '${hostDir}/pipe' && rm '${hostDir}/pipe'"`,
  ),
  succeeds(
    'makes a link on the host',
    ({ hostDir }) => `sh -c "ln -s x '${hostDir}/sym' && rm '${hostDir}/sym'"`,
  ),
  succeeds(
    'moves a file of its own to the host',
    ({ hostDir }) => `sh -c "touch own && mv own '${hostDir}/own' && rm '${hostDir}/own'"`,
  ),
  succeeds(
    'renames a file of the host',
    ({ secretFile }) =>
      `sh -c "mv '${secretFile}' '${secretFile}.n' && mv '${secretFile}.n' '${secretFile}'"`,
  ),
  succeeds(
    'clones a repository to the host',
    ({ hostDir }) => `sh -c "git init -q '${hostDir}/repo' && rm -r '${hostDir}/repo'"`,
  ),
  succeeds(
    'watches a folder of the host',
    ({ hostDir }) => `node -e "require('fs').watch('${hostDir}').close()"`,
  ),
] as const;

const SYSTEM = [
  ...['/etc/group', '/etc/hosts', '/etc/profile', '/etc/nsswitch.conf', '/usr/bin/env'],
  ...['/proc/sys/kernel/hostname', '/proc/sys/kernel/pid_max', '/proc/sys/kernel/panic'],
  ...['/proc/sys/kernel/printk', '/proc/sys/kernel/randomize_va_space', '/proc/sys/vm/overcommit_memory'],
  ...['/proc/sys/vm/swappiness', '/proc/sys/fs/file-max', '/proc/sys/fs/suid_dumpable'],
] as const;

export const HOST_FILE_PROBES: readonly Probe[] = [
  ...READING,
  ...CHANGING,
  ...SYSTEM.map(opensForWriting),
  makesIn('/var/tmp', 'escapes'),
  ...['/etc', '/opt', '/srv', '/usr/bin', '/usr/lib', '/usr/local/bin', '/var/lib'].map((dir) =>
    makesIn(dir, 'escapes_as_root'),
  ),
];
