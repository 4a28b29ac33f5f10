/**
 * The archives of a data directory, for operators (D12): listed, checked, and unpacked into an empty folder.
 * Owns reading the store beside a running engine and the check of checksum and content; no user's key reaches here.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, list } from 'tar';
import { ParleyError } from '../../core/parley-error.ts';
import { sandboxId, type SandboxId } from '../../core/ids.ts';
import type { ArchiveRecord } from '../../ports/record-store.ts';
import { createBlobDirectory } from '../../store/blobs/blob-directory.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { readDeployedStore } from '../follow/config-store.ts';
import { placesOf } from './places.ts';

export type ArchiveCheck =
  | { readonly kind: 'whole'; readonly members: number }
  | { readonly kind: 'missing' | 'changed' }
  | { readonly kind: 'unreadable'; readonly reason: string };

export interface Archives {
  /** By sandbox, oldest generation first; `only` null means all. */
  entries(only: SandboxId | null): Promise<readonly ArchiveRecord[]>;
  /** Reads every byte: checksum, compression and members. */
  check(entry: ArchiveRecord): Promise<ArchiveCheck>;
  /**
   * Unpacks into `directory`, which is made and must be empty. Nothing lands outside of it.
   * @throws ParleyError invalid_request (the folder is not empty), not_found (no blob)
   */
  restore(entry: ArchiveRecord, directory: string): Promise<void>;
  close(): Promise<void>;
}

/** Null when nothing was ever stored. @throws ParleyError store_unavailable */
export async function openArchives(config: DeploymentConfig): Promise<Archives | null> {
  const { blobs: root } = placesOf(config.dataDir);
  const store = await readDeployedStore(config);
  if (store === null) return null;
  const blobs = createBlobDirectory(root);
  const bytesOf = (entry: ArchiveRecord) => blobs.get(entry.blobKey);
  return {
    async entries(only) {
      const ids = only === null ? await archivedIds(root) : [only];
      const found = await Promise.all(
        ids.map(async (id) =>
          (await store.archives.archives(id)).map((archive) => ({ sandboxId: id, ...archive })),
        ),
      );
      return found.flat();
    },
    check: (entry) => check(entry, () => bytesOf(entry)),
    restore: async (entry, directory) => await unpack(entry, { content: await bytesOf(entry), directory }),
    close: () => store.close(),
  };
}

/** By their blobs, for a sandbox that no record knew has an archive too. */
async function archivedIds(root: string): Promise<readonly SandboxId[]> {
  const names = await readdir(join(root, 'archives')).catch(() => []);
  return names.sort().map((name) => sandboxId(name));
}

type Content = AsyncIterable<Uint8Array> | null;

/** The checksum first: a changed byte would otherwise be told as whatever it broke. */
async function check(entry: ArchiveRecord, open: () => Promise<Content>): Promise<ArchiveCheck> {
  const [first, second] = [await open(), await open()];
  if (first === null || second === null) return { kind: 'missing' };
  const hash = createHash('sha256');
  for await (const chunk of first) hash.update(chunk);
  if (hash.digest('hex') !== entry.sha256) return { kind: 'changed' };
  let members = 0;
  try {
    await pipeline(Readable.from(second), list({ strict: true, onReadEntry: () => (members += 1) }));
    return { kind: 'whole', members };
  } catch (error) {
    return { kind: 'unreadable', reason: error instanceof Error ? error.message : String(error) };
  }
}

interface Unpacking {
  readonly content: Content;
  readonly directory: string;
}

/** Paths that climb out, and links that lead out of the folder, are refused by the reader of the archive. */
async function unpack(entry: ArchiveRecord, { content, directory }: Unpacking): Promise<void> {
  if (content === null) {
    throw new ParleyError('not_found', `Cannot restore sandbox "${entry.sandboxId}": its archive is gone`);
  }
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if ((await readdir(directory)).length > 0) {
    throw new ParleyError('invalid_request', `Cannot restore into "${directory}": it is not empty`);
  }
  await pipeline(Readable.from(content), extract({ cwd: directory, strict: false, preserveOwner: false }));
}
