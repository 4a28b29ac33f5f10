/** What is in a folder that may not be there. */
import { readdirSync } from 'node:fs';

/** Names of its entries; none when there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
