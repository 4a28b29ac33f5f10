/**
 * How many connections each way out of sandboxes may have, of what this process may open.
 * Owns the shares: together they are two thirds, so that files, the database and the API keep the rest (D31).
 */
import { readFileSync } from 'node:fs';

export interface DescriptorShares {
  readonly proxy: number;
  readonly webhook: number;
  readonly git: number;
  readonly egress: number;
}

/** In parts of all descriptors; one of egress that leads somewhere takes two. */
const PARTS: Readonly<Record<keyof DescriptorShares, number>> = {
  proxy: 0.3,
  webhook: 0.06,
  git: 0.1,
  egress: 0.1,
};
const MOST: DescriptorShares = { proxy: 4_096, webhook: 512, git: 1_024, egress: 2_048 };
/** Where the system does not say: the limit of a shell on most of them. */
const DESCRIPTORS_DEFAULT = 1_024;

export function descriptorShares(descriptors: number): DescriptorShares {
  const share = (way: keyof DescriptorShares): number =>
    Math.max(8, Math.min(MOST[way], Math.floor(descriptors * PARTS[way])));
  return { proxy: share('proxy'), webhook: share('webhook'), git: share('git'), egress: share('egress') };
}

/** Files and sockets that this process may have open at once. */
export function descriptorsMax(): number {
  try {
    const [, soft] =
      /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === 'unlimited' ? Infinity : Number(soft ?? DESCRIPTORS_DEFAULT);
  } catch {
    return DESCRIPTORS_DEFAULT;
  }
}
