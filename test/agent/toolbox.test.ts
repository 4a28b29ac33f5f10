/** The place of the tools, with a program in bubblewrap's stead that is slow at what a busy machine is slow at. */
import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, vi } from 'vitest';
import { startTool } from '../../agent/toolbox.ts';
import { tempDir } from '../helpers/temp-dir.ts';

/** Reports its number before the place is there, as bubblewrap does, and refuses who enters the place until then. */
const slowProgram = (dir: string): string => `#!/bin/sh
printf '{ "child-pid": %s }' $$ >&4
case " $* " in
  *' --unshare-user '*) sleep 0.5; : > ${dir}/mapped ;;
  *) test -e ${dir}/mapped || { echo 'entered too early' >&2; exit 1; } ;;
esac
until test "$1" = --; do shift; done
shift; exec "$@"
`;

it('takes in no program before its users are mapped', async () => {
  const dir = tempDir();
  const program = path.join(dir, 'bwrap');
  writeFileSync(program, slowProgram(dir), { mode: 0o755 });
  writeFileSync(path.join(dir, 'filter'), '');
  vi.stubEnv('PARLEY_TOOLBOX_BWRAP', program);
  vi.stubEnv('PARLEY_TOOLBOX_FILTER', path.join(dir, 'filter'));
  vi.stubEnv('PARLEY_AGENT_SOCKET', path.join(dir, 'server', 'socket'));
  vi.stubEnv('OH_CONVERSATIONS_PATH', path.join(dir, 'server', 'conversations'));
  const env = { PATH: process.env['PATH'] ?? '', GREETING: 'hello' };
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const { child } = await startTool('/bin/sh', ['-c', 'echo "$GREETING"'], { cwd: dir, env, stdio });
  const ended = once(child, 'exit');
  const [said, complaint] = await Promise.all(
    [child.stdout, child.stderr].map((one) => (one === null ? '' : text(one))),
  );
  expect([await ended, said, complaint]).toEqual([[0, null], 'hello\n', '']);
});
