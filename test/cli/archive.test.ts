/** `parley archive`: what operators see of archives, and that a workspace really comes back from one. */
import { mkdirSync, readFileSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openArchives } from '../../host/sandboxes/archives.ts';
import { placesOf } from '../../host/sandboxes/places.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import { sandboxId } from '../../core/ids.ts';
import { exportDirectory } from '../../runtimes/workspace-archive/export-directory.ts';
import { createBlobDirectory } from '../../store/blobs/blob-directory.ts';
import { openStore } from '../../store/open-store.ts';
import { sandboxRow } from '../contract/store-rows.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const SANDBOX = sandboxId('a'.repeat(32));

/** A data directory with one archived workspace. */
async function archived(): Promise<{ readonly config: DeploymentConfig; readonly blob: string }> {
  const dataDir = path.join(tempDir(), 'data');
  const workspace = path.join(tempDir(), 'workspace');
  mkdirSync(path.join(workspace, 'deep'), { recursive: true });
  mkdirSync(dataDir);
  writeFileSync(path.join(workspace, 'deep', 'file.txt'), 'kept\n');
  symlinkSync('deep/file.txt', path.join(workspace, 'link'));
  const places = placesOf(dataDir);
  const blobKey = `archives/${SANDBOX}/1.tgz`;
  const { sha256, bytes } = await createBlobDirectory(places.blobs).put(blobKey, exportDirectory(workspace));
  const store = await openStore({ kind: 'sqlite', path: places.database });
  await store.records.project([sandboxRow(SANDBOX)]);
  await store.archives.putArchive({ sandboxId: SANDBOX, generation: 1, blobKey, sha256, bytes, at: 5 });
  await store.close();
  return {
    config: { dataDir, resultsDir: dataDir, bucket: null, store: { kind: 'sqlite' } } as DeploymentConfig,
    blob: path.join(places.blobs, blobKey),
  };
}

async function onlyEntry(config: DeploymentConfig) {
  const archives = await openArchives(config);
  const [entry] = (await archives?.entries(null)) ?? [];
  if (archives === null || entry === undefined) throw new Error('no archive');
  return { archives, entry };
}

describe('archives', () => {
  it('are listed, whole, and give the workspace back', async () => {
    const { config } = await archived();
    const { archives, entry } = await onlyEntry(config);
    expect(entry).toMatchObject({ sandboxId: SANDBOX, generation: 1, at: 5 });
    expect(await archives.check(entry)).toEqual({ kind: 'whole', members: 3 });
    const folder = path.join(tempDir(), 'restored');
    await archives.restore(entry, folder);
    expect(readdirSync(folder).sort()).toEqual(['deep', 'link']);
    expect(readFileSync(path.join(folder, 'deep', 'file.txt'), 'utf8')).toBe('kept\n');
    expect(readlinkSync(path.join(folder, 'link'))).toBe('deep/file.txt');
    await archives.close();
  });

  it('that were changed or lost are told apart', async () => {
    const { config, blob } = await archived();
    const { archives, entry } = await onlyEntry(config);
    const bytes = readFileSync(blob);
    bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1;
    writeFileSync(blob, bytes);
    expect(await archives.check(entry)).toEqual({ kind: 'changed' });
    await createBlobDirectory(placesOf(config.dataDir).blobs).remove(entry.blobKey);
    expect(await archives.check(entry)).toEqual({ kind: 'missing' });
    await expect(archives.restore(entry, path.join(tempDir(), 'x'))).rejects.toMatchObject({
      code: 'not_found',
    });
    await archives.close();
  });

  it('never go over what is in a folder', async () => {
    const { config } = await archived();
    const { archives, entry } = await onlyEntry(config);
    const folder = tempDir();
    writeFileSync(path.join(folder, 'mine'), 'mine');
    await expect(archives.restore(entry, folder)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(readdirSync(folder)).toEqual(['mine']);
    await archives.close();
  });

  it('of a sandbox that has none are an empty list', async () => {
    const { config } = await archived();
    const { archives } = await onlyEntry(config);
    expect(await archives.entries(sandboxId('b'.repeat(32)))).toEqual([]);
    await archives.close();
  });
});
