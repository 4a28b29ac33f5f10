/**
 * The system's answer "there is no such file".
 * Owns telling it from every other error.
 */

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
