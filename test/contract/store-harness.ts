/** What the parts of the store's contract are handed; must not name a dialect. */
import type { Store } from '../../store/open-store.ts';

/** Opens a new, empty store for the running test. */
export type OpenEmptyStore = () => Promise<Store>;
