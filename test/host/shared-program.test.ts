/** Programs of containers lie in the data directory, which a daemon sees also where Parley itself is in a container. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { sharedProgram } from '../../host/sandboxes/runtime-of.ts';
import { tempDir } from '../helpers/temp-dir.ts';

describe('sharedProgram', () => {
  const made = (): { readonly program: string; readonly dataDir: string } => {
    const folder = tempDir();
    const program = path.join(folder, 'agent-server.cjs');
    writeFileSync(program, 'one');
    writeFileSync(`${program}.compiled`, 'one, compiled');
    return { program, dataDir: path.join(folder, 'data') };
  };

  it('copies the program, and what is compiled of it, to the data directory', () => {
    const { program, dataDir } = made();
    const shared = sharedProgram(program, { dataDir });
    expect(path.dirname(shared)).toBe(path.join(dataDir, 'programs'));
    expect(readFileSync(shared, 'utf8')).toBe('one');
    expect(readFileSync(`${shared}.compiled`, 'utf8')).toBe('one, compiled');
    expect(statSync(shared).mode & 0o777).toBe(0o644);
  });

  it('keeps the program that running sandboxes have beside that of another build', () => {
    const { program, dataDir } = made();
    const before = sharedProgram(program, { dataDir });
    const { ino } = statSync(before);
    expect(statSync(sharedProgram(program, { dataDir })).ino).toBe(ino);
    writeFileSync(program, 'two');
    const after = sharedProgram(program, { dataDir });
    expect(after).not.toBe(before);
    expect(readFileSync(before, 'utf8')).toBe('one');
    expect(readdirSync(path.dirname(after)).filter((name) => name.endsWith('.cjs'))).toHaveLength(2);
  });

  it('leaves a program where it is that lies there already', () => {
    const { dataDir } = made();
    const program = path.join(dataDir, 'programs', 'agent-openhands-1.cjs');
    mkdirSync(path.dirname(program), { recursive: true });
    writeFileSync(program, 'three');
    expect(sharedProgram(program, { dataDir })).toBe(program);
    expect(readdirSync(path.dirname(program))).toEqual(['agent-openhands-1.cjs']);
  });
});
