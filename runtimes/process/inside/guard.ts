/**
 * What Node.js cannot ask the kernel for itself, such as closing this process to the other processes of its user.
 * Owns loading an object that asks for it; see system-call-object.ts of the host's side for what it is.
 */

/**
 * Node.js refuses what was loaded, for it is no addon; its work is done by then.
 * @throws Error the object could not be loaded at all
 */
export function loadObject(file: string): void {
  try {
    process.dlopen({ exports: {} }, file);
  } catch (error) {
    const isRefusal = error instanceof Error && error.message.includes('did not self-register');
    if (!isRefusal) throw error;
  }
}
