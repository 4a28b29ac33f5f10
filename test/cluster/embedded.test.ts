/** The chart in its embedded form on a real cluster, installed as docs/chart.md prints it. */
import { describeWith } from '../helpers/requires.ts';
import { describeDeployment } from './deployment-suite.ts';
import { workloadOf } from './installed-chart.ts';

const describeForm = (): void =>
  describeDeployment({
    images: [],
    values: {},
    workloads: [workloadOf('statefulset', 'api'), workloadOf('statefulset', 'proxy')],
    others: [],
    prepare: () => Promise.resolve(),
  });

describeWith('helm', 'the chart with the embedded engine', () =>
  describeWith('cluster-local', 'on a cluster', describeForm),
);
