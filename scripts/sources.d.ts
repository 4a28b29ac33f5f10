/** Types of sources.js, for its tests. */
export function statSources(root: string): string;
export function listSources(root: string): readonly string[];
export function isFresh(root: string): boolean;
