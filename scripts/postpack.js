/** Takes away what scripts/prepack.js put beside package.json for the package alone: here, package-lock.json counts. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './setup.js';

rmSync(path.join(ROOT, 'npm-shrinkwrap.json'), { force: true });
