/**
 * Makes names in directories durable.
 * Owns the sync after a rename or a creation; must not write content.
 */
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';

/** Makes new names in a folder outlast a power cut. */
export async function syncDirectory(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates the folder and what is missing above it, each one durable in its parent. */
export async function makeDirectory(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = path.dirname(made)) {
    await syncDirectory(path.dirname(made));
  }
}
