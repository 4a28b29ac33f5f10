/** Types of lock.js, for its tests. */
export function withLock<T>(file: string, work: () => T): T;
