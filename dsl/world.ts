/**
 * What the compiler may ask about the world beside the file; handed in, so that compiling stays pure.
 * Owns the interface; must not hold an implementation.
 */
import type { SecretReference } from '../core/plan.ts';

export type FileProblem = 'missing' | 'directory' | 'too_large' | 'binary';
export type FileRead = { readonly text: string } | { readonly problem: FileProblem };

export interface JobWorld {
  /** Reads a text file by its path relative to the job file. Must not throw. */
  readFile(relativePath: string): FileRead;
  /** Lower-case hex SHA-256 of the UTF-8 bytes. */
  sha256(text: string): string;
  /** Models the proxy lists; null or absent means nobody knows, and nothing is checked. */
  readonly models?: readonly string[] | null;
  /** Whether a secret can be opened; absent means it is not checked. */
  secretExists?(reference: SecretReference): boolean;
}
