import type { Deployment, DeploymentSpec } from '../../../src/machinery/kubernetes/index.js';

export interface DeploymentShape {
  name: string;
  /** @default 'default' */
  namespace?: string;
  /** @default 1 */
  replicas?: number;
  /** @default 'web:1' */
  image?: string;
  minReadySeconds?: number;
  progressDeadlineSeconds?: number;
  strategy?: DeploymentSpec['strategy'];
  /** The annotations of the pod template. */
  annotations?: Record<string, string>;
}

/** A small valid Deployment whose pods are labelled `app=<name>`. */
export function aDeployment({
  annotations,
  image = 'web:1',
  name,
  namespace = 'default',
  replicas = 1,
  ...spec
}: DeploymentShape): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      ...spec,
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, ...(annotations ? { annotations } : {}) },
        spec: { containers: [{ name: 'web', image }] },
      },
    },
  };
}
