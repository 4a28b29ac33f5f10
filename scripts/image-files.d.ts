/** Types of image-files.js, for its test. */

/** Writes the trees `parley` and `sandbox` below `target`, which is made. */
export function writeImageFiles(target: string, root?: string): void;

/** Writes what `parley --version` says there; `origin` is a commit and its instant, or empty. */
export function writeOrigin(target: string, origin: string, root?: string): void;

/** Folders below `root` of the packages that the programs load. */
export function runtimePackages(root: string): readonly string[];
