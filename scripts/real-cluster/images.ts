/**
 * Images in the node of a cluster: made of one program, or exported by a Docker daemon.
 * Owns their archives and the names under which pods find them; nothing is pulled.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { create } from 'tar';
import type { Machine } from './machine.ts';

export const PAUSE_IMAGE = 'parley.test/pause:1';
export const NAMES_IMAGE = 'parley.test/coredns:1';
const NAMESPACE = 'k8s.io';

export interface ImageStore {
  readonly machine: Machine;
  /** Of containerd. */
  readonly socket: string;
}

function ctr({ machine, socket }: ImageStore, ...args: readonly string[]): string {
  return machine.run('ctr', ['--address', socket, '--namespace', NAMESPACE, ...args]);
}

/** Kills the first program of that container with SIGKILL. */
export function killContainer(store: ImageStore, container: string): void {
  ctr(store, 'tasks', 'kill', '--signal', 'SIGKILL', container);
}

/** Takes in an archive of `docker save`; the digest of the image with that name. */
export function importImage(store: ImageStore, archive: string, image: string): string {
  ctr(store, 'images', 'import', archive);
  const [, line = ''] = ctr(store, 'images', 'ls', `name==${image}`).trim().split('\n');
  const digest = /sha256:[0-9a-f]{64}/.exec(line)?.[0];
  if (digest === undefined) throw new Error(`Cannot import the image "${image}": it is not in its archive`);
  // The chart names images by digest, and nothing else is looked for then.
  ctr(store, 'images', 'tag', '--force', image, `${image.slice(0, image.lastIndexOf(':'))}@${digest}`);
  return digest;
}

/** An image of one program that needs no other file. */
export async function importProgram(store: ImageStore, program: string, image: string): Promise<void> {
  const work = mkdtempSync(path.join(store.machine.dir, 'image-'));
  mkdirSync(path.join(work, 'root'));
  const name = path.basename(program);
  copyFileSync(program, path.join(work, 'root', name));
  chmodSync(path.join(work, 'root', name), 0o755);
  const layer = path.join(work, 'layer.tar');
  await create({ file: layer, cwd: path.join(work, 'root'), portable: true }, [name]);
  const diff = createHash('sha256').update(readFileSync(layer)).digest('hex');
  const config = {
    ...{ architecture: process.arch === 'x64' ? 'amd64' : process.arch, os: 'linux' },
    config: { Entrypoint: [`/${name}`] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${diff}`] },
  };
  writeFileSync(path.join(work, 'config.json'), JSON.stringify(config));
  const manifest = [{ Config: 'config.json', RepoTags: [image], Layers: ['layer.tar'] }];
  writeFileSync(path.join(work, 'manifest.json'), JSON.stringify(manifest));
  const archive = path.join(work, 'image.tar');
  await create({ file: archive, cwd: work }, ['manifest.json', 'config.json', 'layer.tar']);
  importImage(store, archive, image);
  rmSync(work, { recursive: true });
}
