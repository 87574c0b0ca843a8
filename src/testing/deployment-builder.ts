import type { Deployment, DeploymentSpec } from '@rollkeeper/machinery/kubernetes';

/** The unusual properties of {@link aDeployment}. */
export interface DeploymentShape {
  readonly replicas?: number;
  readonly image?: string;
  readonly strategy?: DeploymentSpec['strategy'];
  readonly spec?: Partial<DeploymentSpec>;
  readonly annotations?: Record<string, string>;
}

/** A valid Deployment `default/web`, with the API's defaults unless overridden. */
export function aDeployment(shape: DeploymentShape = {}): Deployment {
  const { replicas = 10, image = 'app:1', annotations } = shape;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'uid-of-web',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: 'web' },
      ...(annotations ? { annotations } : {}),
    },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      strategy: shape.strategy ?? {
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' },
      },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image }] },
      },
      ...shape.spec,
    },
  };
}

/** Changes the image, like `kubectl set image`. */
export function setImage(deployment: Deployment, image: string): void {
  const { spec } = deployment.spec.template;
  const [first, ...others] = spec?.containers ?? [];
  const containers = [{ name: 'web', ...first, image }, ...others];
  deployment.spec.template.spec = { ...spec, containers };
}
