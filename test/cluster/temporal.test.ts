/** The chart on a real cluster with the engine on Temporal, whose server and Parley's store are in PostgreSQL. */
import { describeWith } from '../helpers/requires.ts';
import { describeDeployment } from './deployment-suite.ts';
import { workloadOf } from './installed-chart.ts';
import { SECRETS, startTemporalStack, TEMPORAL_ADDRESS, TEMPORAL_STACK } from './temporal-stack.ts';

const describeForm = (): void =>
  describeDeployment({
    images: ['postgres', 'temporal'],
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
  });

describeWith('helm', 'the chart with the engine on Temporal', () =>
  describeWith('cluster-local', 'on a cluster', () => describeWith('compose-local', 'in PostgreSQL', describeForm)),
);
