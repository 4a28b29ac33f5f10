/**
 * Where conversations are kept: one directory each, `<hex id>/meta.json` and `<hex id>/events.jsonl` (D15).
 * Owns paths and files; decides nothing about what is in them.
 */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  closeSync,
  fsyncSync,
  openSync,
  writeSync,
} from 'node:fs';
import { join, dirname } from 'node:path';
import { conversationMetaSchema, type ConversationMeta } from './conversation-meta.ts';
import { EventLog } from './event-log.ts';
import { hexOf, hyphenatedUuid } from '../ids.ts';
import { isThere } from '../is-there.ts';
import type { World } from '../world.ts';

/** A directory that is being removed carries this ending, so that a crash between cannot bring it back. */
const REMOVED_SUFFIX = '.removed';

export class ConversationStore {
  readonly #root: string;
  readonly #world: World;

  /** Creates the root, readable by its owner only, and finishes removals a crash left half done. */
  constructor(root: string, world: World) {
    this.#root = root;
    this.#world = world;
    mkdirSync(root, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(root)) {
      if (name.endsWith(REMOVED_SUFFIX)) rmSync(join(root, name), { recursive: true, force: true });
    }
  }

  /** Ids of all stored conversations; a directory without meta.json was never acknowledged and is not one. */
  ids(): string[] {
    return readdirSync(this.#root).flatMap((name) => {
      const id = hyphenatedUuid(name);
      return id !== null && isThere(join(this.#root, name, 'meta.json')) ? [id] : [];
    });
  }

  directoryOf(id: string): string {
    return join(this.#root, hexOf(id));
  }

  /** @throws the check's error when the file is not a meta.json of ours */
  readMeta(id: string): ConversationMeta {
    const text = readFileSync(join(this.directoryOf(id), 'meta.json'), 'utf8');
    return conversationMetaSchema.parse(JSON.parse(text));
  }

  writeMeta(meta: ConversationMeta): void {
    mkdirSync(this.directoryOf(meta.id), { recursive: true, mode: 0o700 });
    writeFileAtomically(join(this.directoryOf(meta.id), 'meta.json'), `${JSON.stringify(meta, null, 2)}\n`);
  }

  openLog(id: string): EventLog {
    mkdirSync(this.directoryOf(id), { recursive: true, mode: 0o700 });
    return new EventLog(join(this.directoryOf(id), 'events.jsonl'), this.#world);
  }

  remove(id: string): void {
    const directory = this.directoryOf(id);
    if (!isThere(directory)) return;
    const removed = `${directory}${REMOVED_SUFFIX}`;
    rmSync(removed, { recursive: true, force: true });
    renameSync(directory, removed);
    rmSync(removed, { recursive: true, force: true });
  }
}

/** Replaces the file at `path`; readable by its owner only. */
function writeFileAtomically(path: string, text: string): void {
  const fresh = `${path}.new`;
  const fd = openSync(fresh, 'w', 0o600);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(fresh, path);
  const directory = openSync(dirname(path), 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
