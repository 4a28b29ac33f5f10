/**
 * The chart on a real cluster, installed as docs/chart.md prints it: with the embedded engine, and with the engine on
 * Temporal, whose server and Parley's store are in PostgreSQL. Each form has a cluster of its own.
 */
import { mkdtempSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { installedComposeTools } from '../../scripts/compose-tools.js';
import { describeWith } from '../helpers/requires.ts';
import { removeDir } from '../helpers/temp-dir.ts';
import { buildImages } from './cluster-images.ts';
import type { Archives } from './cluster-images.ts';
import { describeDeployment } from './deployment-suite.ts';
import { workloadOf } from './installed-chart.ts';
import { SECRETS, startTemporalStack, TEMPORAL_ADDRESS, TEMPORAL_STACK } from './temporal-stack.ts';

const MS_MAX = 1_800_000;

describeWith('helm', 'the chart', () => describeWith('cluster-local', 'on a cluster', describeForms));

function describeForms(): void {
  let folder = '';
  let archives: Archives = new Map();
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'cluster-')));
    const withTemporal = installedComposeTools(process.env) !== null;
    const stack = withTemporal ? (['postgres', 'temporal'] as const) : [];
    archives = await buildImages(['parley', 'later', 'sandbox', ...stack], folder);
  }, MS_MAX);
  afterAll(() => removeDir(folder));

  describe('with the embedded engine', () =>
    describeDeployment({
      archives: () => archives,
      images: ['parley', 'later', 'sandbox'],
      values: {},
      workloads: [workloadOf('statefulset', 'api'), workloadOf('statefulset', 'proxy')],
      others: [],
      prepare: () => Promise.resolve(),
    }));

  describeWith('compose-local', 'with the engine on Temporal, in PostgreSQL', () =>
    describeDeployment({
      archives: () => archives,
      images: ['parley', 'later', 'sandbox', 'postgres', 'temporal'],
      values: {
        engine: { kind: 'temporal', temporal: { address: TEMPORAL_ADDRESS, namespace: 'parley' } },
        store: { kind: 'postgres', urlSecret: { name: SECRETS.database } },
        seal: { secretName: SECRETS.seal },
      },
      workloads: [
        workloadOf('statefulset', 'worker'),
        workloadOf('deployment', 'api'),
        workloadOf('statefulset', 'proxy'),
      ],
      others: TEMPORAL_STACK,
      prepare: startTemporalStack,
    }),
  );
}
