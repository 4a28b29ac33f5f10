/**
 * An answer of the API as a file on the user's disk.
 * Owns the way: the key is in a header, so a plain link could not fetch it.
 */
export async function saveFile(response: Response, name: string): Promise<void> {
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
