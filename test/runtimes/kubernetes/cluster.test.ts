/**
 * The Kubernetes runtime against an API server: always the stand-in, and the real one with etcd and kwok where
 * `npm run k8s:local` has built it. There the contract of a runtime is kept as well, with pods that are processes.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { startLocalCluster } from '../../../scripts/local-cluster.ts';
import type { LocalCluster } from '../../../scripts/local-cluster.ts';
import { describeRuntimeContract } from '../../contract/runtime-contract.ts';
import { describeWith } from '../../helpers/requires.ts';
import { realCluster, standInCluster } from './cluster-harness.ts';
import { describeCluster } from './cluster-suite.ts';
import { createRealApiHarness } from './real-api-harness.ts';

const START_MS_MAX = 600_000;

describe('a stand-in API server', () => describeCluster(standInCluster));

describeWith('k8s-local', 'a real API server', () => {
  let local: LocalCluster;
  beforeAll(async () => {
    local = await startLocalCluster();
  }, START_MS_MAX);
  afterAll(() => local.close());

  describe('with nodes of kwok', () => describeCluster(() => realCluster(local)));

  describeWith('bwrap', 'with a node that runs processes', () => {
    describeRuntimeContract(() => createRealApiHarness(local));
  });
});
