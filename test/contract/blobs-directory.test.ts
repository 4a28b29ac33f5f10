/** Blobs and results in folders do what every implementation does. */
import path from 'node:path';
import { describe } from 'vitest';
import { createBlobDirectory } from '../../store/blobs/blob-directory.ts';
import { createResultsDirectory } from '../../store/blobs/results-directory.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { blobSuite } from './blob-suite.ts';
import { resultsSuite } from './results-suite.ts';

describe('in a folder', () => {
  blobSuite(() => Promise.resolve(createBlobDirectory(path.join(tempDir(), 'blobs'))));
  resultsSuite(() => {
    const folder = tempDir();
    return () => Promise.resolve(createResultsDirectory(folder));
  });
});
