/**
 * Objects of Git LFS of a repository of this machine: files in the folder that Git LFS itself writes there.
 * Owns finding them; must not decide who may read.
 */
import { createReadStream } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { LfsObject, LfsSource } from './lfs.ts';
import { resolveRepository, type LocalCall } from './local-backend.ts';

const ABSENT = { code: 404, message: 'the object is not there' };

export function localLfs(place: LocalCall['place'], signal: AbortSignal): LfsSource {
  return {
    async look(objects) {
      const repository = await resolveRepository(place);
      if (repository === null) return null;
      return await Promise.all(
        objects.map(async (object) => ((await fileOf(repository, object)) === null ? ABSENT : null)),
      );
    },
    async send(object, response: ServerResponse) {
      const repository = await resolveRepository(place);
      const file = repository === null ? null : await fileOf(repository, object);
      if (file === null) return false;
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-length': object.size,
      });
      await pipeline(createReadStream(file), response, { signal });
      return true;
    },
  };
}

/** Of the size that was asked for; a link that leads elsewhere is none. Beside a working tree it is in `.git`. */
async function fileOf(repository: string, { oid, size }: LfsObject): Promise<string | null> {
  for (const folder of [repository, join(repository, '.git')]) {
    const file = join(folder, 'lfs', 'objects', oid.slice(0, 2), oid.slice(2, 4), oid);
    const stat = await lstat(file).catch(() => null);
    if (stat?.isFile() === true && stat.size === size && (await realpath(file)) === file) return file;
  }
  return null;
}
