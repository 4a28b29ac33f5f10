/**
 * Where a deployment keeps archives and results: folders of this machine, or a bucket.
 * Owns the choice, which no other module makes; must not read or write anything itself.
 */
import { copiedResults } from '../store/blobs/copied-results.ts';
import { createBlobDirectory } from '../store/blobs/blob-directory.ts';
import { createResultsDirectory } from '../store/blobs/results-directory.ts';
import { createS3Bucket } from '../store/blobs/s3-bucket.ts';
import { createS3Blobs, createS3Results } from '../store/blobs/s3-results.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { LocalResults } from '../ports/results.ts';
import type { DeploymentConfig } from './config/deployment-config.ts';
import { placesOf } from './sandboxes/places.ts';

export interface DeployedFiles {
  readonly blobs: BlobStore;
  readonly results: LocalResults;
  /** @throws ParleyError store_unavailable with what to do, part_missing; never for folders, which are made */
  check(): Promise<void>;
  close(): Promise<void>;
}

export function deployedFiles({
  bucket: settings,
  dataDir,
  resultsDir,
}: Pick<DeploymentConfig, 'bucket' | 'dataDir' | 'resultsDir'>): DeployedFiles {
  const places = placesOf(dataDir);
  if (settings === null) {
    return {
      blobs: createBlobDirectory(places.blobs),
      results: createResultsDirectory(resultsDir, places.resultsNotes),
      check: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
  }
  const bucket = createS3Bucket(settings);
  return {
    blobs: createS3Blobs(bucket),
    results: copiedResults(createS3Results(bucket), createResultsDirectory(resultsDir)),
    check: () => bucket.check(),
    close: () => bucket.close(),
  };
}
