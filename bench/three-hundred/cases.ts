/**
 * What goes wrong in the middle of a batch, and how it is repaired: each case happens to teams.
 * Owns the harm and its remedy; what Parley reports and does about it is measured elsewhere.
 */
import { copyFileSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Ground } from './ground.ts';

export type CaseName = 'quiet' | 'away' | 'revoked' | 'model' | 'disk';

export interface Harm {
  /** Matches the trouble that must be reported; null: the first report of any kind. */
  readonly told: RegExp | null;
  /** For how long it lasts at the most; a run that ends before is resumed after the remedy. */
  readonly lastsMs: number;
  strike(ground: Ground): Promise<void>;
  undo(ground: Ground): Promise<void>;
}

const MINUTE_MS = 60_000;
const BALLAST = 'ballast';
/** Of the data folder, when the disk is to fill: a batch needs about a tenth of it. */
export const DATA_MIB = 256;

export const HARMS: Readonly<Record<Exclude<CaseName, 'quiet'>, Harm>> = {
  /** The gateway is down for two minutes. */
  away: {
    told: /cannot be reached|502/,
    lastsMs: 2 * MINUTE_MS,
    strike: (ground) => ground.stopGateway(),
    undo: (ground) => ground.startGateway(),
  },
  /** The gateway no longer knows the key. */
  revoked: {
    told: /401|key/i,
    lastsMs: 10 * MINUTE_MS,
    strike: (ground) => restart(ground, { key: 'sk-another' }),
    undo: (ground) => restart(ground),
  },
  /** The gateway no longer has the model. */
  model: {
    told: /404|model/i,
    lastsMs: 10 * MINUTE_MS,
    async strike(ground) {
      const before = path.join(ground.dir, 'gateway.yaml');
      const script = path.join(ground.dir, 'without-model.yaml');
      copyFileSync(before, script);
      writeFileSync(script, readFileSync(before, 'utf8').replaceAll('acme/writer-1', 'acme/another'));
      await restart(ground, { script: 'without-model.yaml' });
    },
    undo: (ground) => restart(ground),
  },
  /** The disk of the data folder is full to the last byte. */
  disk: {
    told: /full|ENOSPC/,
    lastsMs: MINUTE_MS,
    strike(ground) {
      fill(path.join(ground.dataDir, BALLAST));
      return Promise.resolve();
    },
    undo(ground) {
      rmSync(path.join(ground.dataDir, BALLAST), { force: true });
      return Promise.resolve();
    },
  },
};

/** The gateway, as the example has it but for the change. */
async function restart(ground: Ground, change?: Parameters<Ground['startGateway']>[0]): Promise<void> {
  await ground.stopGateway();
  await ground.startGateway(change);
}

/** Large pieces first, then single bytes, until the disk is full. */
function fill(file: string): void {
  const { bavail, bsize } = statfsSync(path.dirname(file));
  for (let bytes = bavail * bsize; bytes >= 1; bytes = Math.floor(bytes / 2)) {
    try {
      writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' });
    } catch {
      // That much did not fit any more: half of it may.
    }
  }
}
