/**
 * The files of a block `tls`: an authority, and a certificate with its key.
 * Owns reading them and what is wrong with them; must not connect.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { errorAt, type ConfigParts } from './config-parts.ts';
import type { Problem } from './problem.ts';

/** Paths as they stand in the file. */
export interface WrittenTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface PemFiles {
  readonly ca: Buffer | null;
  readonly client: { readonly certificate: Buffer; readonly key: Buffer } | null;
  readonly problems: readonly Problem[];
}

/** `block` names where `tls` stands. */
export function readPemFiles(parts: ConfigParts, block: string, written: WrittenTls): PemFiles {
  const problems: Problem[] = [];
  const read = (key: keyof WrittenTls): Buffer | null => {
    const name = written[key];
    if (name === undefined) return null;
    try {
      return readFileSync(path.resolve(parts.baseDir, name));
    } catch {
      const message = `Cannot read "${block}.tls.${key}": there is no file "${name}" that can be read`;
      problems.push(errorAt(parts, [block, 'tls', key], { message, remedy: 'name a PEM file' }));
      return null;
    }
  };
  const [ca, certificate, key] = [read('ca'), read('cert'), read('key')];
  if ((written.cert === undefined) !== (written.key === undefined)) {
    const there = written.cert === undefined ? 'key' : 'cert';
    const message = `Cannot use "${block}.tls.${there}" alone: a certificate and its key belong together`;
    problems.push(
      errorAt(parts, [block, 'tls', there], { message, remedy: 'write both, or leave both out' }),
    );
  }
  return { ca, client: certificate === null || key === null ? null : { certificate, key }, problems };
}
