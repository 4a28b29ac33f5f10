/** The installation of what the tests of the Temporal engine need: quick when it is there, named when it cannot be. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { installTemporalTools, testServerMissing, testServerProgram } from '../../scripts/temporal-tools.js';
import { toolsFolder } from '../../scripts/tool-cache.js';
import { cachedCli } from '../../temporal/dev-server/find-cli.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const CLI = 'Temporal CLI';
const SERVER = 'time-skipping test server';

/** A machine whose search path holds only these programs, each a shell script. */
function machine(programs: Readonly<Record<string, string>>): Record<string, string> {
  const home = tempDir();
  const bin = path.join(home, 'bin');
  mkdirSync(bin);
  for (const [name, script] of Object.entries(programs)) {
    const file = path.join(bin, name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }
  return { HOME: home, PATH: bin };
}

describe('installTemporalTools()', () => {
  it('names what it lacks, and leaves nothing behind', async () => {
    const env = machine({});
    expect(await installTemporalTools(env)).toEqual([
      { name: CLI, ok: false, line: 'go is not installed' },
      { name: SERVER, ok: false, line: 'java is not installed, mvn is not installed' },
    ]);
    expect(testServerMissing(env)).toBe('the time-skipping test server is not installed');
    expect(cachedCli(env)).toBeNull();
  });

  it('keeps nothing of an installation that failed, and says why', async () => {
    const env = machine({ go: 'echo no network >&2; exit 1', java: '', mvn: 'echo no artifact >&2; exit 2' });
    expect(await installTemporalTools(env)).toEqual([
      {
        name: CLI,
        ok: false,
        line: expect.stringMatching(/go ended with exit code 1: no network$/) as string,
      },
      {
        name: SERVER,
        ok: false,
        line: expect.stringMatching(/mvn ended with exit code 2: no artifact$/) as string,
      },
    ]);
    expect(existsSync(path.join(toolsFolder(env), 'temporal-cli'))).toBe(false);
  });

  it('installs where the product and the tests look, and the second time does nothing', async () => {
    const write = (file: string): string => `echo '#!/bin/sh' > "${file}"; /bin/chmod +x "${file}"`;
    const env = machine({ go: write('$GOBIN/temporal'), java: '', mvn: '/bin/mkdir lib' });
    const first = await installTemporalTools(env);
    expect(first.map(({ ok, line }) => [ok, line.replace(/\d+ s$/, 'N s')])).toEqual([
      [true, 'installed in N s'],
      [true, 'installed in N s'],
    ]);
    expect(cachedCli(env)).toBe(path.join(toolsFolder(env), 'temporal-cli', 'temporal'));
    expect(testServerMissing(env)).toBeNull();
    expect(await installTemporalTools(env)).toEqual([
      { name: CLI, ok: true, line: cachedCli(env) },
      { name: SERVER, ok: true, line: testServerProgram(env) },
    ]);
  });
});
