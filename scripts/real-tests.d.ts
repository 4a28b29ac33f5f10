/** Types of real-tests.js, for its tests. */
export function realTests(root: string): string[];
