import type { BuildOptions } from 'esbuild';

export const ENGLISH_ONLY: NonNullable<BuildOptions['plugins']>[number];
export function bundle(options: BuildOptions): Promise<readonly string[]>;
