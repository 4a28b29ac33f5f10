/**
 * The Kubernetes runtime against an API server: always the stand-in, and the real one with etcd and kwok where
 * `npm run k8s:local` has built it.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { startLocalCluster } from '../../../scripts/local-cluster.ts';
import type { LocalCluster } from '../../../scripts/local-cluster.ts';
import { describeWith } from '../../helpers/requires.ts';
import { realCluster, standInCluster } from './cluster-harness.ts';
import { describeCluster } from './cluster-suite.ts';

const START_MS_MAX = 180_000;

describe('a stand-in API server', () => describeCluster(standInCluster));

describeWith('k8s-local', 'a real API server', () => {
  let local: LocalCluster;
  beforeAll(async () => {
    local = await startLocalCluster();
  }, START_MS_MAX);
  afterAll(() => local.close());
  describeCluster(() => realCluster(local));
});
