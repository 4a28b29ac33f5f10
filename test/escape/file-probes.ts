/**
 * Attempts on the files of the host and of other sandboxes.
 * Owns the scripts; must not run them.
 */
import { ESCAPED, ifPrints, ifSucceeds } from './probe.ts';
import type { Probe } from './probe.ts';

export const FILE_PROBES: readonly Probe[] = [
  {
    name: 'writes a file outside of its workspace',
    script: ({ hostDir }) => ifSucceeds(`touch '${hostDir}/planted'`),
    onPlain: 'escapes',
  },
  {
    name: 'opens the list of users for writing',
    script: () => ifSucceeds('sh -c ": >> /etc/passwd"'),
    onPlain: 'escapes_as_root',
  },
  {
    name: 'opens a program of the system for writing',
    script: () => ifSucceeds('sh -c ": >> /usr/bin/unshare"'),
    onPlain: 'escapes_as_root',
  },
  {
    name: 'makes a directory at the root',
    script: () => ifSucceeds('sh -c "mkdir /planted-here && rmdir /planted-here"'),
    onPlain: 'escapes_as_root',
  },
  {
    name: 'changes the programs it is run by',
    script: () => ifSucceeds('sh -c "find /opt -name *.cjs -writable | grep . && exit 0 || exit 1"'),
    onPlain: 'not_run',
  },
  {
    name: 'reads a secret of the host',
    script: ({ secretFile, secret }) => ifPrints(`cat '${secretFile}'`, secret),
    onPlain: 'escapes',
  },
  {
    name: 'reads the password file',
    script: () => ifPrints('cat /etc/shadow', 'root:'),
    onPlain: 'escapes_as_root',
  },
  {
    name: 'lists a directory of the host',
    script: ({ hostDir }) => ifSucceeds(`ls '${hostDir}'`),
    onPlain: 'escapes',
  },
  {
    name: 'reads the workspace of another sandbox',
    script: ({ neighbourFile, secret }) => ifPrints(`cat '${neighbourFile}'`, secret),
    onPlain: 'escapes',
  },
  {
    name: 'writes to the workspace of another sandbox',
    script: ({ neighbourFile }) => ifSucceeds(`sh -c ": >> '${neighbourFile}'"`),
    onPlain: 'escapes',
  },
  {
    name: 'reads through a symbolic link',
    script: ({ secretFile, secret }) => ifPrints(`ln -sf '${secretFile}' link; cat link`, secret),
    onPlain: 'escapes',
  },
  {
    name: 'makes a hard link to a file of the host',
    script: ({ secretFile, secret }) => ifPrints(`ln -f '${secretFile}' hard; cat hard; rm -f hard`, secret),
    onPlain: 'unjudged',
  },
  {
    name: 'extracts an archive to a path that climbs out',
    script: ({ hostDir, secretFile }) => {
      const make = `touch climbed; tar -cPf t.tar --transform 's,^climbed,${hostDir}/climbed,' climbed`;
      return `${make} 2>/dev/null; ${ifSucceeds(`tar -xPf t.tar 2>/dev/null && test -e '${hostDir}/climbed' && test -e '${secretFile}'`)}`;
    },
    onPlain: 'escapes',
  },
  {
    name: 'climbs out by dots',
    script: ({ secretFile, secret }) => ifPrints(`cat "../../../../../../../../../..${secretFile}"`, secret),
    onPlain: 'escapes',
  },
  {
    name: 'reads through the root of the first process',
    script: ({ secretFile, secret }) => ifPrints(`cat '/proc/1/root${secretFile}'`, secret),
    onPlain: 'unjudged',
  },
  {
    name: 'reads through the working folders of other processes',
    script: ({ secretFile, secret }) =>
      ifPrints(`for p in /proc/[0-9]*; do cat "$p/root${secretFile}"; done`, secret),
    onPlain: 'escapes',
  },
  {
    name: 'sees homes of the host',
    script: () => ifPrints('ls -A /root /home', 'ssh') + `; ls -d /root 2>/dev/null | sed 's/.*/${ESCAPED}/'`,
    onPlain: 'unjudged',
  },
  {
    name: 'makes a device of its own',
    script: () => ifSucceeds('sh -c "mknod device b 8 0 && rm device"'),
    onPlain: 'escapes_as_root',
  },
  {
    name: 'has the devices of the host',
    script: () => ifPrints('ls /dev', 'kmsg'),
    onPlain: 'unjudged',
  },
  {
    name: 'finds the socket of a container daemon',
    script: () => ifSucceeds('sh -c "test -S /var/run/docker.sock || test -S /run/docker.sock"'),
    onPlain: 'unjudged',
  },
];
