/** The chart in its embedded form on a real cluster, installed as docs/chart.md prints it. */
import { describeWith } from '../helpers/requires.ts';
import { describeDeployment } from './deployment-suite.ts';

const describeForm = (): void =>
  describeDeployment({
    images: [],
    values: {},
    workloads: ['statefulset/parley-api', 'statefulset/parley-proxy'],
    maker: 'api',
    prepare: () => Promise.resolve(),
  });

describeWith('helm', 'the chart with the embedded engine', () =>
  describeWith('cluster-local', 'on a cluster', describeForm),
);
