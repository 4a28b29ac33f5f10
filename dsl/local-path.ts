/**
 * Relative paths with forward slashes.
 * Owns joining them; what lies there is the world's business.
 */

/** `jobs/base.yaml` → `jobs`; '' for a file beside the job. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '' : path.slice(0, slash);
}

/** `..` takes away a folder before it, and stays where there is none. */
export function joinPath(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of `${folder}/${path}`.split('/')) {
    if (part === '' || part === '.') continue;
    const last = parts.at(-1);
    if (part === '..' && last !== undefined && last !== '..') parts.pop();
    else parts.push(part);
  }
  const joined = parts.join('/');
  return folder.startsWith('/') ? `/${joined}` : joined;
}
