/**
 * An address, handed to the program that opens pages on this machine.
 * Owns which program that is; the address is one argument of it, and no shell reads it.
 */
import { spawn } from 'node:child_process';

export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What opens it fails at once or never; a browser that stays is not waited for. */
const FAILS_WITHIN_MS = 2_000;

/** Null where nobody looks at a screen: in a CI, or without a display. */
export function openerOf({
  platform,
  env,
}: Surroundings): readonly [program: string, ...args: string[]] | null {
  if (env['CI']) return null;
  switch (platform) {
    case 'darwin':
      return ['open'];
    case 'win32':
      // `start` is a word of the shell, which would read the address; this is the program behind it.
      return ['rundll32.exe', 'url.dll,FileProtocolHandler'];
    default: {
      const hasScreen = ['DISPLAY', 'WAYLAND_DISPLAY', 'WSL_DISTRO_NAME', 'BROWSER'].some(
        (name) => env[name],
      );
      return hasScreen ? ['xdg-open'] : null;
    }
  }
}

/** False when there is no such program, or when it says that it could not. */
export async function openAddress(address: string, around: Surroundings): Promise<boolean> {
  const opener = openerOf(around);
  if (opener === null) return false;
  const [program, ...args] = opener;
  const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore', env: around.env });
  child.unref();
  return await new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), FAILS_WITHIN_MS);
    const end = (isOpen: boolean): void => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.once('error', () => end(false));
    child.once('exit', (code) => end(code === 0));
  });
}
