/**
 * Files that our parent process had open, kept from our children: Node.js closes what it opens itself, and of what it
 * inherits only the lowest numbers. A sandbox that got the rest could open a directory of the host through it.
 * Owns finding and marking them; we may still use them, as `parley run <(…)` does.
 */
import { closeSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { systemCallObject } from './guard/system-call-object.ts';

const OPEN_FILES = '/proc/self/fd';
const CLOSED_ON_EXEC = 0o2000000;
/** `close_range(3, all, CLOSE_RANGE_CLOEXEC)`: nothing is closed now, everything at the start of another program. */
const MARK_ALL = { number: { x64: 436, arm64: 436 }, args: [3, 0xffffffff, 4] } as const;

/** Where the temporary folder is none, which is no reason to leave anything unmarked. */
const OTHER_PLACES = ['/dev/shm', '/tmp'];

/**
 * Marks every descriptor but the three standard ones. What a kernel before 5.11, or another processor, leaves unmarked
 * is closed: then nothing given beside the standard ones can be used.
 */
export function keepDescriptorsFromChildren(): void {
  if (inheritable().length === 0) return;
  markAll();
  for (const descriptor of inheritable()) closeSync(descriptor);
}

/** Those that a child would get; none where the system lists none, as on macOS, where no sandbox is isolated. */
export function inheritable(): readonly number[] {
  return openDescriptors().filter((descriptor) => descriptor > 2 && !isMarked(descriptor));
}

function openDescriptors(): readonly number[] {
  try {
    return readdirSync(OPEN_FILES).map(Number);
  } catch {
    return [];
  }
}

function isMarked(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return (Number.parseInt(flags ?? '0', 8) & CLOSED_ON_EXEC) !== 0;
  } catch {
    // The listing itself was open when it was made.
    return true;
  }
}

/** Loading the object makes the call; Node.js then refuses it, for it is no addon. */
function markAll(): void {
  const object = systemCallObject(process.arch, MARK_ALL);
  if (object === null || process.platform !== 'linux') return;
  for (const place of [os.tmpdir(), ...OTHER_PLACES]) {
    try {
      const dir = mkdtempSync(path.join(place, 'parley-'));
      try {
        load(path.join(dir, 'close-range.node'), object);
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    } catch {
      // A command that needs the temporary folder says what is wrong with it.
    }
    if (inheritable().length === 0) return;
  }
}

function load(file: string, object: Uint8Array): void {
  writeFileSync(file, object, { mode: 0o600 });
  process.dlopen({ exports: {} }, file);
}
