/** Types of packages-to-use.js, for its tests. */
export function packagesToUse(
  manifestText: string,
  lockText: string,
): { readonly manifest: string; readonly lock: string };
