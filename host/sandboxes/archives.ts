/**
 * The archives of a deployment, for operators (D12): listed, checked, and unpacked into an empty folder.
 * Owns reading the store beside a running engine and the check of checksum and content; no user's key reaches here.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract, list } from 'tar';
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxId } from '../../core/ids.ts';
import type { ArchiveRecord } from '../../ports/record-store.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { deployedFiles } from '../deployed-files.ts';
import { readDeployedStore } from '../follow/config-store.ts';

/** The result of checking one archive. */
export type ArchiveCheck =
  | { readonly kind: 'whole'; readonly members: number }
  | { readonly kind: 'missing' | 'changed' }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** The internal archives of workspaces (D12). */
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
  const store = await readDeployedStore(config);
  if (store === null) return null;
  const files = deployedFiles(config);
  const bytesOf = (entry: ArchiveRecord) => files.blobs.get(entry.blobKey);
  return {
    async entries(only) {
      if (only === null) return await store.archives.allArchives();
      return (await store.archives.archives(only)).map((one) => ({ sandboxId: only, ...one }));
    },
    check: (entry) => check(entry, () => bytesOf(entry)),
    restore: async (entry, directory) => await unpack(entry, { content: await bytesOf(entry), directory }),
    async close() {
      await files.close();
      await store.close();
    },
  };
}

type Content = AsyncIterable<Uint8Array> | null;

/** The checksum first: a changed byte would otherwise be reported as whatever it broke. */
async function check(entry: ArchiveRecord, open: () => Promise<Content>): Promise<ArchiveCheck> {
  const first = await open();
  if (first === null) return { kind: 'missing' };
  const hash = createHash('sha256');
  for await (const chunk of first) hash.update(chunk);
  if (hash.digest('hex') !== entry.sha256) return { kind: 'changed' };
  const second = await open();
  if (second === null) return { kind: 'missing' };
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
