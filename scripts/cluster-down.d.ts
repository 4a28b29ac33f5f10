/** Types of cluster-down.js, for what starts a cluster. */

/** Of the folders of clusters. */
export const PREFIX: string;

/** Folders of the control groups' controllers, and of version 2 beside them. */
export function hierarchies(): readonly string[];

/** Ends the machine with that folder, and removes what is left of it. Nothing to do is success. */
export function removeMachine(dir: string): Promise<void>;
