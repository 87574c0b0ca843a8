import { readFileSync } from 'node:fs';
import { createDeploymentController } from '../../../src/controllers/deployment/index.js';
import type { KubernetesObject } from '../../../src/machinery/kubernetes/index.js';
import type { ManifestObject, TestCluster, TestClusterOptions } from '../../../src/testing/cluster/index.js';
import { startTestCluster } from '../../../src/testing/cluster/index.js';

/** The chart's CustomResourceDefinition, as text. */
export const DEFINITION = readFileSync(
  new URL('../../../helm/rollkeeper/definitions/deployments.rollkeeper.dev.yaml', import.meta.url),
  'utf8',
);

export interface Loose extends KubernetesObject {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  [field: string]: any;
}

/** A cluster whose own controllers run, the Deployment controller among them, and beside them the one of rollkeeper.dev. */
export async function startManagedCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const own = [
    'deployment',
    'replicaset',
    'garbage-collector',
    'namespace',
    'disruption',
    'horizontal-pod-autoscaler',
  ];
  const cluster = await startTestCluster({
    nodes: 1,
    controllers: [...own, createDeploymentController({ api: 'rollkeeper.dev/v1' })],
    ...options,
    manifests: [DEFINITION],
  });
  await cluster.settled();
  return cluster;
}

export interface WebOptions {
  readonly api?: 'apps/v1' | 'rollkeeper.dev/v1';
  readonly image?: string;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly pod?: Readonly<Record<string, unknown>>;
  readonly container?: Readonly<Record<string, unknown>>;
}

/** A Deployment as people write it: almost nothing is said. */
export function web({
  api = 'rollkeeper.dev/v1',
  image = 'web:1',
  spec,
  pod,
  container,
}: WebOptions = {}): ManifestObject {
  const labels = { app: 'web' };
  return {
    apiVersion: api,
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'web', image, ...container }], ...pod },
      },
      ...spec,
    },
  };
}
