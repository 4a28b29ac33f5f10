/**
 * A zip archive as entries, read by a library that the product does not write with.
 * Must not touch the file system.
 */
import type { Readable } from 'node:stream';
import { fromBuffer } from 'yauzl';
import type { Entry, ZipFile } from 'yauzl';

export interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
}

/** Every entry, in the archive's order. Rejects when the archive is broken or a checksum is wrong. */
export async function readZip(bytes: Buffer): Promise<readonly ZipEntry[]> {
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: false, autoClose: false }, (error, file) =>
      error ? reject(error) : resolve(file),
    );
  });
  const entries: Entry[] = [];
  await new Promise<void>((resolve, reject) => {
    zip.on('entry', (entry: Entry) => entries.push(entry));
    zip.once('end', resolve);
    zip.once('error', reject);
  });
  const read: ZipEntry[] = [];
  for (const entry of entries) read.push({ name: entry.fileName, content: await contentOf(zip, entry) });
  return read;
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const stream = await new Promise<Readable>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) => (error ? reject(error) : resolve(opened)));
  });
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
